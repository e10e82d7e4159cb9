import type { ValueView } from '../control/schemas/value.js';
import type { Door } from '../door/door.js';
import type { Message } from './outbox.js';
import { level } from './topics.js';

/** What was told of a value last, and when, in ms. */
interface Told {
  readonly payload: string;
  readonly at: number;
}

/** The most values of all devices that are told. */
const MOST_VALUES = 10_000;

/** Tells the values of devices that have a name, when they have changed, each not more often than it may be. */
export class ValuesOut {
  readonly #door: Door;
  readonly #topic: string;
  readonly #every: number;
  readonly #publish: (message: Message) => void;
  readonly #told = new Map<string, Map<string, Told>>();

  /** @param topic of all devices; `every` is the shortest time between two messages of one value, in ms */
  constructor(
    door: Door,
    {
      topic,
      every,
      publish,
    }: {
      readonly topic: string;
      readonly every: number;
      readonly publish: (message: Message) => void;
    },
  ) {
    this.#door = door;
    this.#topic = topic;
    this.#every = every;
    this.#publish = publish;
  }

  /** Has everything told anew: the broker may have forgotten it. */
  forget(): void {
    this.#told.clear();
  }

  /** Takes back what was told of devices that are gone. */
  keepOnly(devices: ReadonlySet<string>): void {
    for (const [device, values] of this.#told) {
      if (devices.has(device)) continue;
      for (const name of values.keys())
        this.#publish({ topic: this.#topicOf(device, name), payload: '', retain: true });
      this.#told.delete(device);
    }
  }

  /** Tells what has changed in a device. */
  async look(device: string): Promise<void> {
    const values = await this.#door.list('value.named', { device });
    if (!values.ok) return;
    for await (const parts of values.value) for (const value of parts) this.tell(device, value);
  }

  /** Tells a value, if it has changed and may be told again. */
  tell(device: string, { name, value }: Pick<ValueView, 'name' | 'value'>): void {
    if (name === null) return;
    const told = this.#told.get(device) ?? new Map<string, Told>();
    this.#told.set(device, told);
    const payload = JSON.stringify(value);
    const last = told.get(name);
    const now = performance.now();
    if (last && (last.payload === payload || now - last.at < this.#every)) return;
    if (!last && this.#count() >= MOST_VALUES) return;
    told.set(name, { payload, at: now });
    this.#publish({ topic: this.#topicOf(device, name), payload, retain: true });
  }

  #count(): number {
    let count = 0;
    for (const { size } of this.#told.values()) count += size;
    return count;
  }

  #topicOf(device: string, name: string): string {
    return `${this.#topic}/${level(device)}/values/${level(name)}`;
  }
}
