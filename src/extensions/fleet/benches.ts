import { randomBytes } from 'node:crypto';
import { failure, type Result, success } from '../../common/result.js';
import { Broker, type BrokerSettings } from '../../remote/mqtt/broker.js';
import type { Code } from '../../simulator/commands/refusal.js';
import { type FleetBench, jsonIn, KnownBenches, stateSchema } from './known-benches.js';

export type FleetAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly detail: string };

/** A selection of benches: by the last level of the topic or the whole topic, with `*` for any text, and by labels. */
export interface Selection {
  readonly on?: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

const CONNECT_MS = 10_000;
const SECOND_TRY_MS = 1000;
/**
 * Number of pauses without a message, and their length in ms, after which all retained messages count as
 * received: the broker sends them in one go when it answers the subscription. This is not measured by the clock,
 * because a process that a busy machine has suspended has messages to read when it continues.
 */
const QUIET_PAUSES = 15;
const PAUSE_MS = 20;
/** Maximum number of benches in a fleet, and maximum total size of their state messages in bytes. */
const MOST_OF_FLEET = { benches: 10_000, bytes: 128 * 2 ** 20 };

/** The benches on a broker, and a way to send commands to them. */
export class Fleet {
  readonly #broker: Broker;
  readonly #benches = new KnownBenches(MOST_OF_FLEET);
  readonly #answers = `modbus-sim/fleet/${randomBytes(8).toString('hex')}`;
  readonly #waiting = new Map<number, (answer: FleetAnswer) => void>();
  #last = 0;
  #isSubscribed = false;
  /** Number of states received from benches. */
  changes = 0;

  private constructor(
    settings: BrokerSettings,
    topic: string,
    connected: () => void,
    lost: (why: string) => void,
  ) {
    this.#broker = new Broker(settings, {
      connected: () => {
        this.#broker.subscribe([topic, this.#answers], () => {
          this.#isSubscribed = true;
        });
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
   * Finds the benches that publish their states on `topic`, which may contain wildcards; an error if the
   * broker can't be reached.
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
    const givenUpAt = performance.now() + CONNECT_MS;
    for (let quiet = 0; quiet < QUIET_PAUSES; quiet++) {
      const { changes } = fleet;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const isWaiting = !fleet.#isSubscribed && performance.now() < givenUpAt;
      if (isWaiting || fleet.changes !== changes) quiet = -1;
    }
    return success(fleet);
  }

  /** The selected benches, sorted by topic. */
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
      // With these fields in the payload, the request also works under MQTT 3.1.1.
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
