import { z } from 'zod';
import type { SeenBench } from '../../simulator/commands/schemas/mqtt.js';
import { type FleetBench, jsonIn, KnownBenches, stateSchema } from './fleet.js';

/** The benches on the broker are listened to as long as somebody asks for them, and this long after. */
const LISTENS_MS = 15_000;
/** The most benches that are kept, and the most bytes that their states have together as messages. */
const MOST = { benches: 500, bytes: 8 * 2 ** 20 };
const MOST_NAMED = 50;

const ratesSchema = z.object({ requests: z.number(), faults: z.number() });

/** The part of a broker that this needs. */
interface Listens {
  subscribe(topics: readonly string[]): void;
  unsubscribe(topics: readonly string[]): void;
}

/**
 * The benches on the broker, as far as this one may read their topics: those beside its own. Nothing is subscribed to while nobody
 * wants to know.
 */
export class BenchesSeen {
  readonly #broker: Listens;
  readonly #own: string;
  readonly #parent: string;
  readonly #now: () => number;
  readonly #states = new KnownBenches(MOST);
  readonly #rates = new Map<string, SeenBench['rates']>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #listens = false;

  /** @param own what the topics of this bench begin with */
  constructor(broker: Listens, own: string, now: () => number = () => performance.now()) {
    this.#broker = broker;
    this.#own = own;
    this.#parent = own.slice(0, own.lastIndexOf('/') + 1);
    this.#now = now;
  }

  /** To be called after each connection, and every second. @param isNew whether the broker has forgotten what was subscribed to */
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

  /** Those that are known by now; the broker sends what it keeps soon after the first call. */
  list(): SeenBench[] {
    this.#askedAt = this.#now();
    this.turn();
    return this.#states
      .list()
      .map((bench) => this.#view(bench))
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  /** Takes what a bench says of itself. Anything else is for others. */
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
      // A page links there.
      rest: rest.find((url) => /^https?:/i.test(url)) ?? null,
    };
  }
}
