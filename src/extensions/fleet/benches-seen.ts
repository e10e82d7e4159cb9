import { z } from 'zod';
import type { SeenBench } from '../../simulator/commands/schemas/mqtt.js';
import { type FleetBench, jsonIn, KnownBenches, stateSchema } from './known-benches.js';

/** How long the subscription to the states of other benches lasts after the last request for them, in ms. */
const LISTENS_MS = 15_000;
/** Maximum number of benches kept, and maximum total size of their state messages in bytes. */
const MOST_SEEN = { benches: 500, bytes: 8 * 2 ** 20 };
const MOST_NAMED = 50;

const ratesSchema = z.object({ requests: z.number(), faults: z.number() });

/** The methods of a broker that this file uses. */
interface Listens {
  subscribe(topics: readonly string[]): void;
  unsubscribe(topics: readonly string[]): void;
}

/** The other benches on the broker whose topics this one may read. It subscribes only while someone asks for them. */
export class BenchesSeen {
  readonly #broker: Listens;
  readonly #own: string;
  readonly #parent: string;
  readonly #now: () => number;
  readonly #states = new KnownBenches(MOST_SEEN);
  readonly #rates = new Map<string, SeenBench['rates']>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #listens = false;

  /** @param own topic prefix of this bench */
  constructor(broker: Listens, own: string, now: () => number = () => performance.now()) {
    this.#broker = broker;
    this.#own = own;
    this.#parent = own.slice(0, own.lastIndexOf('/') + 1);
    this.#now = now;
  }

  /**
   * Call this after each connection, and every second.
   * @param isNew true if the broker has forgotten the subscriptions
   */
  turn(isNew = false): void {
    const isWanted = this.#now() - this.#askedAt < LISTENS_MS;
    const topics = [`${this.#parent}+/state`, `${this.#parent}+/rates`];
    if (isWanted && (isNew || !this.#listens)) this.#broker.subscribe(topics);
    if (this.#listens && !isWanted) {
      this.#broker.unsubscribe(topics);
      this.#states.clear();
      this.#rates.clear();
    }
    this.#listens = isWanted;
  }

  /** The benches known so far. The broker sends its retained states soon after the first call. */
  list(): SeenBench[] {
    this.#askedAt = this.#now();
    this.turn();
    return this.#states
      .list()
      .map((bench) => this.#view(bench))
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  /** Accepts a state that a bench publishes. Messages on other topics are ignored. */
  take(from: string, payload: Buffer): void {
    const at = from.lastIndexOf('/');
    const [topic, kind] = [from.slice(0, at), from.slice(at + 1)];
    if (!this.#listens || topic.lastIndexOf('/') + 1 !== this.#parent.length) return;
    const reported = jsonIn(payload);
    if (kind === 'state' && !reported) {
      this.#states.delete(topic);
      this.#rates.delete(topic);
    } else if (kind === 'state') this.#states.set({ ...stateSchema.parse(reported), topic }, payload.length);
    else if (kind === 'rates' && this.#states.get(topic))
      this.#rates.set(topic, ratesSchema.safeParse(reported).data ?? null);
  }

  #view({ topic, state, labels, version, since, lines, rules, tests, rest }: FleetBench): SeenBench {
    return {
      topic,
      isOwn: topic === this.#own,
      state,
      version: version ?? null,
      since: since ?? null,
      labels: Object.fromEntries(Object.entries(labels).slice(0, MOST_NAMED)),
      lines: lines.length,
      openLines: lines.filter((line) => line.state === 'open').length,
      rules: rules.slice(0, MOST_NAMED),
      running: tests.slice(0, MOST_NAMED),
      rates: state === 'online' ? (this.#rates.get(topic) ?? null) : null,
      // The console links to this address.
      rest: rest.find((url) => /^https?:/i.test(url)) ?? null,
    };
  }
}
