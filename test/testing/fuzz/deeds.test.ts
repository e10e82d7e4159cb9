import { expect, it } from 'vitest';
import type { TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { written } from '../client/observers.js';
import { inVirtualTime } from '../client/virtual-bench.js';
import { type Played, playByHand } from './by-hand.js';
import { PLANTED } from './planted.js';
import type { Deed } from './trap.js';

inVirtualTime();

const LONG_MS = 20_000;

/** What is heard on the line of a client whose mistake has just shown. */
async function afterwards(
  deed: Deed,
  on: 'serial' | 'tcp' = 'tcp',
): Promise<Played & { heard: TrafficEvent[] }> {
  const planted = PLANTED.find((each) => each.deed === deed && each.on === on);
  if (!planted) throw new Error(`nobody ${deed}`);
  const played = await playByHand(planted, planted.needs);
  const heard: TrafficEvent[] = [];
  // What was asked before is answered by then.
  await played.bench.clock.advanceAsync(1);
  played.bench.simulator.traffic.subscribe((event) => void heard.push(event));
  await played.bench.clock.advanceAsync(LONG_MS);
  return { ...played, heard };
}

const requests = (heard: readonly TrafficEvent[]) => heard.filter(({ kind }) => kind === 'request');

it.each(['serial', 'tcp'] as const)(
  'a client on %s that dies, ends or hangs asks nothing more',
  async (on) => {
    for (const deed of ['dies', 'ends', 'hangs'] as const) {
      const { heard } = await afterwards(deed, on);
      expect(requests(heard)).toEqual([]);
    }
  },
);

it('a client that ends closes its connection and says so', async () => {
  const planted = PLANTED.find(({ deed, on }) => deed === 'ends' && on === 'tcp');
  let ended = 0;
  const { bench, client } = await playByHand(planted as (typeof PLANTED)[number], []);
  client.onEnd = () => ended++;
  client.onEnd();
  expect(ended).toBe(1);
  expect(bench.tcp?.clients).toBe(1);
});

it('a client that hangs polls again when its connection was closed', async () => {
  const planted = PLANTED.find(({ name }) => name.startsWith('late replies twice: waits'));
  const played = await playByHand(planted as (typeof PLANTED)[number], planted?.needs ?? []);
  const { bench, experiences } = played;
  await bench.clock.advanceAsync(LONG_MS);
  const before = experiences.length;
  await bench.simulator.lines.get('bus')?.stop();
  await bench.simulator.lines.get('bus')?.start();
  await bench.clock.advanceAsync(LONG_MS);
  expect(experiences.slice(before).filter(({ effect }) => effect === 'good').length).toBeGreaterThan(10);
});

it.each(['serial', 'tcp'] as const)('a client on %s that floods asks without end', async (on) => {
  const { heard } = await afterwards('floods', on);
  expect(requests(heard).length).toBeGreaterThan(LONG_MS / 10);
});

it.each(['serial', 'tcp'] as const)(
  'a client on %s that babbles sends bytes that are no request, and polls on',
  async (on) => {
    const { heard } = await afterwards('babbles', on);
    const bad = heard.filter(({ kind }) => ['damaged', 'discarded', 'client rejected'].includes(kind));
    expect(bad).toHaveLength(1);
    expect(requests(heard).length).toBeGreaterThan(10);
  },
);

it('a client that strays asks only its first question', async () => {
  const { heard } = await afterwards('strays', 'serial');
  const units = requests(heard).map((event) =>
    JSON.stringify([...('pdu' in event ? (event.pdu as Uint8Array) : [])]),
  );
  expect(new Set(units).size).toBe(1);
});

it('a client that slows down asks a tenth as often', async () => {
  const { heard } = await afterwards('slows', 'serial');
  expect(requests(heard).length).toBeGreaterThan(5);
  expect(requests(heard).length).toBeLessThan(30);
});

it('a client that invents shows a value that no reply carried', async () => {
  const { bench, client } = await afterwards('invents');
  const shown = await written(client, bench).read();
  expect(shown).toEqual({ ok: true, text: String(1000 ^ 0x55) });
});
