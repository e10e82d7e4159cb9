import { type Observer, registerObserver } from '../../../src/testing/client/observer.js';
import type { Habits } from './habits.js';
import type { ModelClient } from './model-client.js';
import { SEEN, type VirtualBench } from './virtual-bench.js';

/** A client that writes back what it reads. */
export const WRITES_BACK: Partial<Habits> = { writesBack: { unitId: 2, address: SEEN } };

/** The register that such a client writes to. */
export function written(_: ModelClient, { simulator }: VirtualBench): Observer {
  const observer = registerObserver('relay.seen', simulator);
  if (!observer.ok) throw new Error(observer.error);
  return observer.value;
}

/** An observer in place of a page or a command: shows what the client has read, scaled, and some time later. */
export function shownLater(delayMs: number): (client: ModelClient, bench: VirtualBench) => Observer {
  return ({ history }, { clock }) => ({
    name: 'http://localhost/values',
    paceMs: 200,
    read: async () => {
      const shown = history.findLast(({ at }) => at <= clock.now() - delayMs);
      return shown ? { ok: true, text: String(shown.word / 10) } : { ok: false, error: 'showed nothing' };
    },
  });
}
