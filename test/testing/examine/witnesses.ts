import { registerWitness } from '../../../src/testing/examine/witness/register-witness.js';
import type { Witness } from '../../../src/testing/examine/witness/witness.js';
import type { Habits } from './habits.js';
import type { ModelClient } from './model-client.js';
import { SEEN, type VirtualBench } from './virtual-bench.js';

/** A client that writes back what it reads. */
export const WRITES_BACK: Partial<Habits> = { writesBack: { unitId: 2, address: SEEN } };

/** The register that such a client writes to. */
export function written(_: ModelClient, { simulator }: VirtualBench): Witness {
  const witness = registerWitness('relay.seen', simulator.devices);
  if (typeof witness === 'string') throw new Error(witness);
  return witness;
}

/** In place of a page or a command: shows what the client has read, scaled, and some time later. */
export function shownLater(delayMs: number): (client: ModelClient, bench: VirtualBench) => Witness {
  return (client, { clock }) => {
    const history: { readonly at: number; readonly text: string }[] = [];
    const note = () => {
      const [question] = client.habits.questions;
      const word = question && client.wordOf(question);
      const text = word === undefined ? '' : String(word / 10);
      if (history.at(-1)?.text !== text) history.push({ at: clock.now(), text });
      clock.callAfter(10, note);
    };
    note();
    return {
      name: 'http://localhost/values',
      paceMs: 200,
      read: async () => {
        const shown = history.findLast(({ at }) => at <= clock.now() - delayMs);
        return shown ? { ok: true, text: shown.text } : { ok: false, error: 'showed nothing' };
      },
    };
  };
}
