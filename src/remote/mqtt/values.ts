import { valueAt } from '../../common/schema/parts.js';
import type { InletView } from '../../simulator/commands/devices.js';
import { MOST_TAKEN, type Taken } from '../../simulator/commands/schemas/device.js';
import type { ValueView } from '../../simulator/commands/schemas/value.js';
import { allParts, type Rpc } from '../rpc/rpc.js';
import type { Broker } from './broker.js';

/**
 * Encodes a name as one level of a topic: `/`, `+`, `#`, `%` and control characters are percent-encoded (MQTT
 * 5, 4.7.1).
 */
export function level(name: string): string {
  return name.replace(/[%/+#\p{Cc}]/gu, (character) => encodeURIComponent(character));
}

/** Decodes a level of a topic to a name; undefined if it is not the encoding of a name. */
export function nameIn(level: string): string | undefined {
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}

type NamedReading = Pick<ValueView, 'name' | 'value'>;

/** Maximum number of values reported, over all devices. */
const MOST_REPORTED = 10_000;

/** The record of a value that must be reported again. */
const NOT_REPORTED = { json: '', at: Number.NEGATIVE_INFINITY };

/** Decides when each value is reported: when it has changed, but not more often than allowed. */
export class Reported {
  readonly #every: number;
  /** For each device and name, the value as JSON and the time of its last report in ms. */
  readonly #reported = new Map<string, Map<string, { readonly json: string; readonly at: number }>>();

  /** @param every minimum time between two reports of one value, in ms */
  constructor(every: number) {
    this.#every = every;
  }

  /** Marks all values to be reported again, because receivers may have forgotten them. The names stay known. */
  forget(): void {
    for (const values of this.#reported.values())
      for (const name of values.keys()) values.set(name, NOT_REPORTED);
  }

  forgetDevice(device: string): void {
    this.#reported.delete(device);
  }

  /** Removes the values that no longer exist. @returns their devices and names */
  keepOnly(isThere: (device: string, name: string) => boolean): (readonly [device: string, name: string])[] {
    const gone: (readonly [string, string])[] = [];
    for (const [device, values] of this.#reported) {
      for (const name of values.keys()) {
        if (isThere(device, name)) continue;
        gone.push([device, name]);
        values.delete(name);
      }
      if (values.size === 0) this.#reported.delete(device);
    }
    return gone;
  }

  /** Whether a value should be reported now. If so, it counts as reported. */
  isNews(device: string, name: string, value: ValueView['value']): boolean {
    const values = this.#reported.get(device) ?? new Map<string, { json: string; at: number }>();
    this.#reported.set(device, values);
    const json = JSON.stringify(value);
    const last = values.get(name);
    const at = performance.now();
    if (last && (last.json === json || at - last.at < this.#every)) return false;
    if (!last && this.#count() >= MOST_REPORTED) return false;
    values.set(name, { json, at });
    return true;
  }

  #count(): number {
    let count = 0;
    for (const { size } of this.#reported.values()) count += size;
    return count;
  }
}

/** Reports the named values of devices when they have changed, each not more often than allowed. */
export class ValuesOut {
  readonly #topic: string;
  readonly #reported: Reported;
  readonly #broker: Pick<Broker, 'publish' | 'isBusy'>;

  /** @param settings `topic` of all devices; `every`: minimum time between two messages about one value, in ms */
  constructor(
    { topic, every }: { readonly topic: string; readonly every: number },
    broker: Pick<Broker, 'publish' | 'isBusy'>,
  ) {
    this.#topic = topic;
    this.#reported = new Reported(every);
    this.#broker = broker;
  }

  /** Marks all values to be reported again, because the broker may have forgotten them. */
  forget(): void {
    this.#reported.forget();
  }

  /** Clears the retained messages of values that no longer exist. @param names names of the values of each device */
  keepOnly(names: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [device, name] of this.#reported.keepOnly((of, each) => names.get(of)?.has(each) ?? false))
      this.#broker.publish({ topic: this.#topicOf(device, name), payload: '', retain: true });
  }

  /**
   * Reports values that have changed and may be reported again. While the broker is busy, they wait for the
   * next call.
   */
  report(device: string, values: readonly NamedReading[]): void {
    if (this.#broker.isBusy) return;
    for (const { name, value } of values)
      if (name !== null && this.#reported.isNews(device, name, value))
        this.#broker.publish({
          topic: this.#topicOf(device, name),
          payload: JSON.stringify(value),
          retain: true,
        });
  }

  #topicOf(device: string, name: string): string {
    return `${this.#topic}/${level(device)}/values/${level(name)}`;
  }
}

/** Longest payload in bytes; a longer one is not a value. */
const LONGEST = 65_536;

/**
 * Passes payloads on to the values that follow their topics. If a value receives more than can be passed on,
 * its newest payload counts.
 */
export class Inlets {
  readonly #rpc: Rpc;
  #byTopic = new Map<string, InletView[]>();
  /** The last payload for each value. The value gets it again when its device restarts. */
  readonly #known = new Map<string, { readonly taken: Omit<Taken, 'age'>; readonly at: number }>();
  readonly #waiting = new Set<string>();
  #isPassing = false;
  /** Number of payloads that did not contain a number. */
  unreadable = 0;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  get topics(): string[] {
    return [...this.#byTopic.keys()];
  }

  /**
   * Reads which values follow which topics.
   * @returns new topics, and topics that no value follows any more
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

  /** Handles a message. Ignores it if no value follows its topic. */
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

/** Parses JSON; text that is not JSON is returned as text. */
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
