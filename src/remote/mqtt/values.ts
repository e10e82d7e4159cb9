import type { ValueView } from '../../simulator/commands/schemas/value.js';
import type { Broker } from './broker.js';
import { level } from './topics.js';

type NamedReading = Pick<ValueView, 'name' | 'value'>;

/** Most values that are reported, over all devices. */
const MOST_VALUES = 10_000;

/** The record of a value that is to be reported again. */
const NOT_REPORTED = { json: '', at: Number.NEGATIVE_INFINITY };

/** Decides when each value is reported: when it has changed, and not more often than allowed. */
export class Reported {
  readonly #every: number;
  /** For each device and name, the value as JSON and the time of its last report in ms. */
  readonly #reported = new Map<string, Map<string, { readonly json: string; readonly at: number }>>();

  /** @param every shortest time between two reports of one value, in ms */
  constructor(every: number) {
    this.#every = every;
  }

  /** Has all values reported again, because receivers may have forgotten them. The names stay known. */
  forget(): void {
    for (const values of this.#reported.values())
      for (const name of values.keys()) values.set(name, NOT_REPORTED);
  }

  /** Forgets the values of one device. */
  forgetDevice(device: string): void {
    this.#reported.delete(device);
  }

  /** Forgets the values that are gone. @returns their devices and names */
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

  /** Whether a value is to be reported now. If so, it counts as reported. */
  isNews(device: string, name: string, value: ValueView['value']): boolean {
    const values = this.#reported.get(device) ?? new Map<string, { json: string; at: number }>();
    this.#reported.set(device, values);
    const json = JSON.stringify(value);
    const last = values.get(name);
    const at = performance.now();
    if (last && (last.json === json || at - last.at < this.#every)) return false;
    if (!last && this.#count() >= MOST_VALUES) return false;
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

  /**
   * @param settings `topic` of all devices; `every`: shortest time between two messages of one value, in ms
   */
  constructor(
    { topic, every }: { readonly topic: string; readonly every: number },
    broker: Pick<Broker, 'publish' | 'isBusy'>,
  ) {
    this.#topic = topic;
    this.#reported = new Reported(every);
    this.#broker = broker;
  }

  /** Has all values reported again, because the broker may have forgotten them. */
  forget(): void {
    this.#reported.forget();
  }

  /** Clears the retained messages of values that are gone. @param names names of the values of each device */
  keepOnly(names: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [device, name] of this.#reported.keepOnly((of, each) => names.get(of)?.has(each) ?? false))
      this.#broker.publish({ topic: this.#topicOf(device, name), payload: '', retain: true });
  }

  /**
   * Reports the values that have changed and may be reported again. While the broker is busy, they wait for
   * the next call.
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
