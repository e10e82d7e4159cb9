import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isMapping } from '../../common/schema/parts.js';
import type { Code } from '../../simulator/commands/refusal.js';
import { Broker, type BrokerSettings } from './broker.js';

/** What a bench has published of itself. Anybody may have: what is not as it should be is left out. */
export const stateSchema = z.object({
  state: z.string().catch('unknown'),
  labels: z.record(z.string(), z.string()).catch({}),
  version: z.string().optional().catch(undefined),
  since: z.string().optional().catch(undefined),
  lines: z.array(z.object({ name: z.string(), state: z.string() })).catch([]),
  rules: z.array(z.string()).catch([]),
  tests: z.array(z.string()).catch([]),
  rest: z.array(z.url()).catch([]),
});

/** A bench, by what its topics begin with. */
export interface FleetBench extends z.infer<typeof stateSchema> {
  readonly topic: string;
}

/** What a bench has answered. */
export type FleetAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly detail: string };

/** Which benches are meant: the last part of the topic or all of it, with `*` for anything, and labels. */
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
/** The broker sends what is retained at once; the last message has come when none came for so long. */
const QUIET_MS = 300;
/** The most benches of a fleet, and the most bytes that their states have together as messages. */
const MOST_OF_FLEET: Most = { benches: 10_000, bytes: 128 * 2 ** 20 };

/** Benches by their topics, bounded: anybody on the broker may say that there are more. */
export class KnownBenches {
  readonly #most: Most;
  readonly #benches = new Map<string, { readonly bench: FleetBench; readonly bytes: number }>();
  #bytes = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /** @param bytes of its state as a message. A bench for which there is no room is not kept, nor what was known of it. */
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

/** The benches on a broker, and a way to command them. */
export class Fleet {
  readonly #broker: Broker;
  readonly #benches = new KnownBenches(MOST_OF_FLEET);
  readonly #answers = `modbus-sim/fleet/${randomBytes(8).toString('hex')}`;
  readonly #waiting = new Map<number, (answer: FleetAnswer) => void>();
  #last = 0;
  #heardAt = performance.now();
  /** How often a bench has reported a state. */
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

  /** Finds the benches whose states come on `topic`, which may have wildcards. @returns why there is no broker, as a sentence */
  static async find(settings: BrokerSettings, topic: string): Promise<Fleet | string> {
    let timer: NodeJS.Timeout | undefined;
    let fleet: Fleet | undefined;
    const why = await new Promise<string | undefined>((resolve) => {
      // A broker that does not know MQTT 5 is asked again by 3.1.1.
      const lost = (why: string) => setTimeout(() => resolve(why), SECOND_TRY_MS).unref();
      fleet = new Fleet(settings, topic, () => resolve(undefined), lost);
      timer = setTimeout(() => resolve('the broker does not answer'), CONNECT_MS);
    });
    clearTimeout(timer);
    if (!fleet) return 'the broker does not answer';
    if (why !== undefined) {
      await fleet.end();
      return why;
    }
    while (performance.now() - fleet.#heardAt < QUIET_MS)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return fleet;
  }

  /** The benches that are meant, by their topics. */
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

  /** Asks a bench for a command of the door. A bench that is gone, or silent for `timeout` ms, is a refusal. */
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
      // In this form, a request says everything under MQTT 3.1.1, too.
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

/** The object that a payload is; undefined for anything else, arrays among it. */
export function jsonIn(payload: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'));
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
