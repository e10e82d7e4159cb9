import { describe, expect, it } from 'vitest';
import {
  findSunspecModel,
  type SunspecGroup,
  type SunspecModel,
  type SunspecPoint,
  sunspecIds,
} from '../../../src/document/sunspec/place.js';
import { liveDevices } from '../../device/live.js';

/*
 * A scan by the rules of pysunspec2, which was read and is not to be had where this is built: the length of a model is computed
 * from its points and from the counts of its groups, which are points of the outermost group. It must be the length that the device
 * tells. A count that is not available, or that leaves a part of a group, ends the scan.
 */

const NOT_AVAILABLE = 0xffff;
const BASE = 40_000;
/** Registers in a request. */
const MOST = 120;

interface Laid {
  readonly point: SunspecPoint;
  readonly offset: number;
}

/** The points of a model where a scan finds them. @param word a register of the model */
function laidOut({ group }: SunspecModel, length: number, word: (offset: number) => number): Laid[] {
  const laid: Laid[] = [];
  const fixed = group.points.reduce((sum, { size }) => sum + size, 0);
  const countOf = ({ name, count }: SunspecGroup, size: number): number => {
    if (count === undefined) return 1;
    const counted =
      typeof count === 'string' ? word(laid.find(({ point }) => point.name === count)?.offset ?? -1) : count;
    if (counted === NOT_AVAILABLE) throw new Error(`${count} of ${name} has no value`);
    if (counted > 0) return counted;
    // Counted by the length of the model, as before there were points for it.
    const rest = length + 2 - fixed;
    if (rest % size !== 0) throw new Error(`${rest} registers are no whole number of ${name}`);
    return rest / size;
  };
  const lay = (each: SunspecGroup, start: number): number => {
    let at = start;
    for (const point of each.points) {
      laid.push({ point, offset: at });
      at += point.size;
    }
    for (const inner of each.groups ?? []) {
      const size = inner.points.reduce((sum, point) => sum + point.size, 0);
      for (let left = countOf(inner, size); left > 0; left--) at = lay(inner, at);
    }
    return at;
  };
  const end = lay(group, 0);
  if (end !== length + 2) throw new Error(`the length is ${length} + 2, computed ${end}`);
  return laid;
}

function client(source: object) {
  const { respond } = liveDevices({ meter: { sunspec: source } });
  const high = (word: number) => [word >> 8, word & 0xff];
  const part = (address: number, count: number): number[] => {
    const [code, , ...bytes] = respond([3, ...high(address), ...high(count)]);
    if (code !== 3) throw new Error(`${count} registers at ${address}: ${code}`);
    return Array.from({ length: count }, (_, i) => 256 * (bytes[2 * i] ?? 0) + (bytes[2 * i + 1] ?? 0));
  };
  const read = (address: number, count: number): number[] =>
    count <= MOST ? part(address, count) : [...part(address, MOST), ...read(address + MOST, count - MOST)];
  const write = (address: number, words: readonly number[]): void => {
    const some = words.slice(0, MOST);
    respond([16, ...high(address), ...high(some.length), 2 * some.length, ...some.flatMap(high)]);
    if (words.length > MOST) write(address + MOST, words.slice(MOST));
  };
  return { read, write };
}

/** Something that a point may hold, and that no point holds before. */
function written({ type, size }: SunspecPoint): number[] {
  if (type === 'string') return Array.from({ length: size }, () => 0x4142);
  if (type === 'float32') return [0x3fc0, 0];
  return type === 'sunssf' ? [0xfffd] : Array.from({ length: size }, (_, i) => 0x1234 + i);
}

/** Scans a model as the first one of a device, then writes what it lets clients write. */
function scan(id: number, source: object | number): void {
  const model = findSunspecModel(id);
  if (!model.ok) throw new Error(model.error);
  const { read, write } = client([source]);
  expect(read(BASE, 3)).toEqual([0x5375, 0x6e53, id]);
  const start = BASE + 2;
  const [length = 0] = read(start + 1, 1);
  const laid = laidOut(model.value, length, (offset) => read(start + offset, 1)[0] as number);
  expect(read(start + 2 + length, 1)).toEqual([0xffff]);
  for (const { point, offset } of laid) {
    const before = read(start + offset, point.size);
    if (point.access !== 'RW' || point.type === 'pad') continue;
    const words = written(point);
    expect(before, point.name).not.toEqual(words);
    write(start + offset, words);
    expect(read(start + offset, point.size), `${point.name} after a write`).toEqual(words);
  }
}

describe('a scan by the rules of pysunspec2', () => {
  it.each(sunspecIds())('finds model %i whole, and reads what it has written', (id) => scan(id, id));

  it.each<[number, object]>([
    [705, { NCrv: 3, NPt: 4 }],
    [707, { NCrvSet: 2, NPt: 3 }],
    [64410, { NProf: 2 }],
  ])('finds the groups of model %i that are counted by %o', (model, values) =>
    scan(model, { model, values }),
  );

  it('finds groups of groups that `repeat` counts', () => {
    for (const model of [705, 710, 712]) scan(model, { model, repeat: { Crv: 2, Pt: 5 } });
  });
});
