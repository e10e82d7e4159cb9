import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { failure, type Result, success } from '../../common/result.js';
import { isMapping } from '../../common/schema/parts.js';
import { Broker, type BrokerSettings } from '../../remote/mqtt/broker.js';
import type { Code } from '../../simulator/commands/refusal.js';
import type { SeenBench } from '../../simulator/commands/schemas/mqtt.js';

/** The state that a bench has published. Anybody may have published it, so invalid parts are left out. */
const stateSchema = z.object({
  state: z.string().catch('unknown'),
  labels: z.record(z.string(), z.string()).catch({}),
  version: z.string().optional().catch(undefined),
  since: z.string().optional().catch(undefined),
  lines: z.array(z.object({ name: z.string(), state: z.string() })).catch([]),
  rules: z.array(z.string()).catch([]),
  tests: z.array(z.string()).catch([]),
  rest: z.array(z.url()).catch([]),
});

/** A bench, with the prefix of its topics. */
export interface FleetBench extends z.infer<typeof stateSchema> {
  readonly topic: string;
}

export type FleetAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly detail: string };

/** A selection of benches: the last level of the topic or all of it, with `*` for any text, and labels. */
export interface Selection {
  readonly on?: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

interface Most {
  readonly benches: number;
  readonly bytes: number;
}

const CONNECT_MS = 10_000;
const SECOND_TRY_MS = 1000;
/**
 * Time without a message, in ms, after which all retained messages have arrived; the broker sends them at
 * once.
 */
const QUIET_MS = 300;
/** Most benches of a fleet, and most bytes of their states as messages. */
const MOST_OF_FLEET: Most = { benches: 10_000, bytes: 128 * 2 ** 20 };

/** Benches by topic. Their number is bounded, because anybody on the broker may announce more. */
class KnownBenches {
  readonly #most: Most;
  readonly #benches = new Map<string, { readonly bench: FleetBench; readonly bytes: number }>();
  #bytes = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /**
   * Keeps the state of a bench, or forgets the bench if there is no room.
   * @param bytes length of the state as a message
   */
  set(bench: FleetBench, bytes: number): void {
    this.delete(bench.topic);
    if (this.#benches.size >= this.#most.benches || this.#bytes + bytes > this.#most.bytes) return;
    this.#benches.set(bench.topic, { bench, bytes });
    this.#bytes += bytes;
  }

  get(topic: string): FleetBench | undefined {
    return this.#benches.get(topic)?.bench;
  }

  delete(topic: string): void {
    this.#bytes -= this.#benches.get(topic)?.bytes ?? 0;
    this.#benches.delete(topic);
  }

  clear(): void {
    this.#benches.clear();
    this.#bytes = 0;
  }

  list(): FleetBench[] {
    return Array.from(this.#benches.values(), ({ bench }) => bench);
  }
}

/** The benches on a broker, and a way to send commands to them. */
export class Fleet {
  readonly #broker: Broker;
  readonly #benches = new KnownBenches(MOST_OF_FLEET);
  readonly #answers = `modbus-sim/fleet/${randomBytes(8).toString('hex')}`;
  readonly #waiting = new Map<number, (answer: FleetAnswer) => void>();
  #last = 0;
  #heardAt = performance.now();
  /** Number of states that benches have reported. */
  changes = 0;

  private constructor(
    settings: BrokerSettings,
    topic: string,
    connected: () => void,
    lost: (why: string) => void,
  ) {
    this.#broker = new Broker(settings, {
      connected: () => {
        this.#heardAt = performance.now();
        this.#broker.subscribe([topic, this.#answers]);
        connected();
      },
      arrived: ({ topic: from, payload }) => {
        if (from === this.#answers) this.#answered(payload);
        else this.#reported(from, payload);
      },
      log: (kind, text) => kind === 'lost' && lost(text),
    });
  }

  /**
   * Finds the benches that publish their states on `topic`, which may have wildcards; or says why the broker
   * can't be reached.
   */
  static async find(settings: BrokerSettings, topic: string): Promise<Result<Fleet>> {
    let timer: NodeJS.Timeout | undefined;
    let fleet: Fleet | undefined;
    const why = await new Promise<string | undefined>((resolve) => {
      // A broker that does not support MQTT 5 gets a second attempt with 3.1.1.
      const lost = (why: string) => setTimeout(() => resolve(why), SECOND_TRY_MS).unref();
      fleet = new Fleet(settings, topic, () => resolve(undefined), lost);
      timer = setTimeout(() => resolve('the broker does not answer'), CONNECT_MS);
    });
    clearTimeout(timer);
    if (!fleet) return failure('the broker does not answer');
    if (why !== undefined) {
      await fleet.end();
      return failure(why);
    }
    while (performance.now() - fleet.#heardAt < QUIET_MS)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return success(fleet);
  }

  /** The benches of a selection, by topic. */
  select({ on, labels }: Selection): FleetBench[] {
    const pattern = on === undefined ? undefined : globOf(on);
    const isMeant = (bench: FleetBench) =>
      (!pattern || pattern.test(bench.topic) || pattern.test(bench.topic.split('/').at(-1) ?? '')) &&
      [...labels].every(([name, value]) => bench.labels[name] === value);
    return this.#benches
      .list()
      .filter(isMeant)
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  /** Sends a command to a bench. The outcome is a refusal if the bench is gone or silent for `timeout` ms. */
  ask(
    { topic }: Pick<FleetBench, 'topic'>,
    command: string,
    input: unknown,
    timeout: number,
  ): Promise<FleetAnswer> {
    if (this.#benches.get(topic)?.state !== 'online')
      return Promise.resolve({ ok: false, code: 'bench.offline' satisfies Code, detail: 'is offline' });
    const correlation = ++this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(correlation);
        resolve({
          ok: false,
          code: 'bench.silent' satisfies Code,
          detail: `gave no answer within ${timeout / 1000} s`,
        });
      }, timeout);
      this.#waiting.set(correlation, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      // In this form, a request is complete under MQTT 3.1.1, too.
      const payload = JSON.stringify({ responseTopic: this.#answers, correlation, input });
      this.#broker.publish({ topic: `${topic}/command/${command}`, payload });
    });
  }

  end(): Promise<void> {
    return this.#broker.end();
  }

  #answered(payload: Buffer): void {
    const answer = jsonIn(payload);
    if (answer === undefined) return;
    const { correlation, ok, value, code, detail } = answer;
    const resolve = this.#waiting.get(Number(correlation));
    this.#waiting.delete(Number(correlation));
    resolve?.(ok === true ? { ok, value } : { ok: false, code: String(code), detail: String(detail) });
  }

  #reported(from: string, payload: Buffer): void {
    this.#heardAt = performance.now();
    this.changes++;
    const topic = from.replace(/\/state$/, '');
    const reported = jsonIn(payload);
    if (!reported) this.#benches.delete(topic);
    else this.#benches.set({ ...stateSchema.parse(reported), topic }, payload.length);
  }
}

function globOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*');
  return new RegExp(`^${escaped}$`);
}

/** Parses a payload as a JSON object; undefined for anything else, including an array. */
function jsonIn(payload: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'));
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Time in ms for which the states of other benches stay subscribed to after somebody has asked for them. */
const LISTENS_MS = 15_000;
/** Most benches that are kept, and most bytes of their states as messages. */
const MOST_SEEN = { benches: 500, bytes: 8 * 2 ** 20 };
const MOST_NAMED = 50;

const ratesSchema = z.object({ requests: z.number(), faults: z.number() });

/** The methods of a broker that are used here. */
interface Listens {
  subscribe(topics: readonly string[]): void;
  unsubscribe(topics: readonly string[]): void;
}

/**
 * The other benches on the broker whose topics this one may read. While nobody asks for them, nothing is
 * subscribed to.
 */
export class BenchesSeen {
  readonly #broker: Listens;
  readonly #own: string;
  readonly #parent: string;
  readonly #now: () => number;
  readonly #states = new KnownBenches(MOST_SEEN);
  readonly #rates = new Map<string, SeenBench['rates']>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #listens = false;

  /** @param own prefix of the topics of this bench */
  constructor(broker: Listens, own: string, now: () => number = () => performance.now()) {
    this.#broker = broker;
    this.#own = own;
    this.#parent = own.slice(0, own.lastIndexOf('/') + 1);
    this.#now = now;
  }

  /**
   * Call this after each connection, and every second.
   * @param isNew whether the broker has forgotten the subscriptions
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

  /** The benches that are known so far. The broker sends its retained states soon after the first call. */
  list(): SeenBench[] {
    this.#askedAt = this.#now();
    this.turn();
    return this.#states
      .list()
      .map((bench) => this.#view(bench))
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  /** Takes the state that a bench publishes. Messages on other topics are ignored. */
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
