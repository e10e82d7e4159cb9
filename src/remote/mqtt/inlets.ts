import { valueAt } from '../../common/schema/parts.js';
import type { InletView } from '../../simulator/commands/inlets.js';
import { MOST_TAKEN, type Taken } from '../../simulator/commands/schemas/inlets.js';
import { allParts, type Rpc } from '../rpc/rpc.js';

/** Longest payload in bytes; a longer one is no value. */
const LONGEST = 65_536;

/**
 * Passes payloads to the values that follow their topics. If a value receives more than can be passed on, its
 * newest payload counts.
 */
export class Inlets {
  readonly #rpc: Rpc;
  #byTopic = new Map<string, InletView[]>();
  /** The last payload of each value, which the value gets again when its device restarts. */
  readonly #known = new Map<string, { readonly taken: Omit<Taken, 'age'>; readonly at: number }>();
  readonly #waiting = new Set<string>();
  #isPassing = false;
  /** Number of payloads from which no number could be read. */
  unreadable = 0;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  get topics(): string[] {
    return [...this.#byTopic.keys()];
  }

  /**
   * Reads which values follow which topics.
   * @returns topics that are new, and topics that no value follows any more
   */
  async refresh(): Promise<{ readonly gone: string[]; readonly added: string[] }> {
    const inlets = await allParts(await this.#rpc.list('inlet.list', undefined));
    if ('ok' in inlets) return { gone: [], added: [] };
    const before = this.#byTopic;
    const byTopic = new Map<string, InletView[]>();
    for (const inlet of inlets) byTopic.set(inlet.topic, [...(byTopic.get(inlet.topic) ?? []), inlet]);
    this.#byTopic = byTopic;
    const present = new Set(inlets.map(keyOf));
    for (const key of this.#known.keys()) {
      if (present.has(key)) this.#waiting.add(key);
      else this.#known.delete(key);
    }
    await this.#pass();
    return {
      gone: [...before.keys()].filter((topic) => !byTopic.has(topic)),
      added: [...byTopic.keys()].filter((topic) => !before.has(topic)),
    };
  }

  /** Takes a message. Ignores it if no value follows its topic. */
  async arrived(topic: string, payload: Buffer): Promise<void> {
    const inlets = this.#byTopic.get(topic);
    if (!inlets) return;
    const parsed = payload.length <= LONGEST ? parse(payload.toString('utf8')) : undefined;
    for (const inlet of inlets) {
      const { device, table, address, path } = inlet;
      const value = numberIn(parsed, path);
      if (value === undefined) {
        this.unreadable++;
        continue;
      }
      const key = keyOf(inlet);
      this.#known.set(key, { taken: { device, table, address, value }, at: performance.now() });
      this.#waiting.add(key);
    }
    await this.#pass();
  }

  async #pass(): Promise<void> {
    if (this.#isPassing) return;
    this.#isPassing = true;
    try {
      while (this.#waiting.size > 0) {
        const some = [...this.#waiting].slice(0, MOST_TAKEN);
        for (const key of some) this.#waiting.delete(key);
        const now = performance.now();
        const values = some.flatMap((key) => {
          const known = this.#known.get(key);
          return known ? [{ ...known.taken, age: now - known.at }] : [];
        });
        await this.#rpc.call('inlet.take', { values });
      }
    } finally {
      this.#isPassing = false;
    }
  }
}

function keyOf({ device, table, address, topic, path }: InletView): string {
  return JSON.stringify([device, table, address, topic, path]);
}

/** Parses JSON; text that is no JSON stays text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

/** The number at a path; true and ON are 1, false and OFF are 0. Undefined if there is no number. */
function numberIn(parsed: unknown, path: readonly (string | number)[]): number | undefined {
  const found = valueAt(parsed, path);
  if (typeof found === 'boolean') return Number(found);
  if (typeof found === 'string') {
    if (/^(?:on|off)$/i.test(found)) return Number(/^on$/i.test(found));
    if (found.trim() === '') return undefined;
  }
  const number = typeof found === 'string' || typeof found === 'number' ? Number(found) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
