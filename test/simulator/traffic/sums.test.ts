import { expect, it } from 'vitest';
import { unpacked } from '../../../src/simulator/commands/packed-sums.js';
import { PROGRAM_FUNCTIONS } from '../../../src/simulator/commands/program.js';
import { LineSums } from '../../../src/simulator/traffic/sums.js';

const broadcast = (at: number, unitId: number) =>
  ({ kind: 'broadcast', at, unitId, functionCode: 6, bytes: Buffer.alloc(8) }) as never;

/** The line `name` of a simulator, with broadcasts of these units in each second of a time. */
function lineOf(name: string, units: number, [from, to]: readonly [number, number]) {
  const sums = new LineSums();
  for (let second = from; second < to; second++)
    for (let unit = 0; unit < units; unit++) sums.count(broadcast(second * 1000 + 1, unit), 1);
  return { name, sums };
}

function secondsOf(lines: readonly ReturnType<typeof lineOf>[], after: number) {
  const simulator = { lines: new Map(lines.map((line) => [line.name, line])) };
  return PROGRAM_FUNCTIONS['line.sums']({ simulator } as never, { after });
}

it('the sums of lines are listed a second of a line at a time, packed', () => {
  const now = Math.floor(performance.now() / 1000);
  const lines = [lineOf('a', 300, [now - 9, now]), lineOf('b', 2, [now - 1, now])];
  const seconds = [...secondsOf(lines, now - 4)];
  expect(seconds.map(({ name, second }) => [name, second - now])).toEqual([
    ['a', -3],
    ['a', -2],
    ['a', -1],
    ['b', -1],
  ]);
  const rows = [...unpacked(seconds[0]?.rows as Float64Array)];
  expect(rows.length).toBe(251);
  expect(rows[7]).toMatchObject({ unit: 7, function: 6, requests: 1, bytesIn: 8, speakingMs: 8 });
  expect(rows.at(-1)).toMatchObject({ unit: -1, function: -1, requests: 50 });
});

it('a line that has begun another second meanwhile does not give it before the others', () => {
  const [early, late] = [lineOf('early', 1, [90, 101]), lineOf('late', 1, [90, 101])];
  const given = ({ sums }: typeof early, now: number) => sums.after(98, now).map(({ second }) => second);
  expect(given(early, 100_500)).toEqual([99]);
  for (const { sums } of [early, late]) sums.count(broadcast(101_001, 1), 1);
  expect(given(late, 100_500)).toEqual([99]);
  expect([given(early, 101_500), given(late, 101_500)]).toEqual([
    [99, 100],
    [99, 100],
  ]);
});
