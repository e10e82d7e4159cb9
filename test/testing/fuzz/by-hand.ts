import { ruleSchema } from '../../../src/device/faults/rule.js';
import type { ModelClient } from '../client/model-client.js';
import { type VirtualBench, virtualBench } from '../client/virtual-bench.js';
import type { Planted } from './planted.js';
import type { Deed, Experience, Feeling } from './trap.js';

/** A client with a planted mistake on a bench of its own, and what has become of it. */
export interface Played {
  readonly bench: VirtualBench;
  readonly client: ModelClient;
  readonly experiences: readonly Experience[];
  readonly deeds: readonly Deed[];
}

/** Requests in good order between two moves. */
const REST = 8;
/** More time than any of these clients needs for its requests. */
const PATIENCE_MS = 60_000;
const OUTAGE_MS = 1500;

/** Plays one move after the other. @param times as long as it takes to be felt */
export async function playByHand(planted: Planted, moves: readonly Feeling[], times = 1): Promise<Played> {
  const bench = await virtualBench(planted.on);
  const experiences: Experience[] = [];
  const deeds: Deed[] = [];
  const trap = planted.trap();
  const client = bench.client(planted.habits, (experience) => {
    experiences.push(experience);
    const deed = trap(experience);
    if (deed !== undefined) deeds.push(deed);
    return deed;
  });
  void client.poll();
  const played = { bench, client, experiences, deeds };
  await goodReplies(played);
  for (const move of moves) {
    await play(played, planted, move, times);
    await goodReplies(played);
  }
  return played;
}

async function goodReplies({ bench, experiences, deeds }: Played): Promise<void> {
  const isGood = () => experiences.filter(({ effect }) => effect === 'good').length;
  const wanted = isGood() + REST;
  const end = bench.clock.now() + PATIENCE_MS;
  while (isGood() < wanted && deeds.length === 0 && bench.clock.now() < end)
    await bench.clock.advanceAsync(10);
}

async function play(played: Played, planted: Planted, { name }: Feeling, times: number): Promise<void> {
  const { bench, client, deeds } = played;
  if (name === 'connecting refused') {
    const line = bench.simulator.lines.get('bus');
    await line?.stop();
    await bench.clock.advanceAsync(OUTAGE_MS * times);
    await line?.start();
    return;
  }
  const { faults, count } = ruleOf(name, planted.on, client.habits.attempts);
  const rules = bench.simulator.faults.rules;
  rules.set(ruleSchema.parse({ name: 'by-hand', when: { count: count * times }, do: faults, seed: 1 }), {
    temporary: true,
  });
  const end = bench.clock.now() + PATIENCE_MS;
  const hits = () => rules.get('by-hand')?.hits ?? 0;
  while (hits() < count * times && deeds.length === 0 && bench.clock.now() < end)
    await bench.clock.advanceAsync(10);
  rules.remove('by-hand');
}

function ruleOf(name: string, on: Planted['on'], attempts: number): { faults: object[]; count: number } {
  const isSerial = on === 'serial';
  switch (name) {
    case 'no reply':
      return { faults: [{ silence: true }], count: 1 };
    case 'no reply to any attempt':
      return { faults: [{ silence: true }], count: attempts };
    case 'bad reply':
      return { faults: [isSerial ? { crc: 'invert' } : { transaction: '+1' }], count: 2 };
    case 'part of a reply':
      return { faults: [{ truncate: 5 }], count: 1 };
    case 'late reply':
      return { faults: [{ duplicate: { times: 1, gap: 3 } }], count: 1 };
    case 'long noise':
      return { faults: [{ noise: '00'.repeat(30) }], count: 1 };
    case 'value jumps':
      return { faults: [{ values: [0xffff, 0xffff, 0xffff, 0xffff] }], count: 1 };
    case 'connection closed':
      return { faults: [{ close: 'end' }], count: 1 };
    case 'busy':
      return { faults: [{ exception: 6 }], count: 1 };
    case 'another exception':
      return { faults: [{ exception: 4 }], count: 1 };
    default:
      return { faults: [{ exception: 2 }], count: 1 };
  }
}
