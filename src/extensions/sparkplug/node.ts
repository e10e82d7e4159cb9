import { unknownName } from '../../common/schema/nearest.js';
import type { SparkplugDefinition } from '../../document/configuration.js';
import type { Arrived, Broker, BrokerEvents } from '../../remote/mqtt/broker.js';
import type { Publication } from '../../remote/mqtt/outbox.js';
import { level, nameIn, Reported } from '../../remote/mqtt/values.js';
import { done, type Outcome, type Refusal, refusal } from '../../simulator/commands/refusal.js';
import type { SparkplugStatus } from '../../simulator/commands/schemas/mqtt.js';
import type { Summary } from '../../simulator/commands/schemas/program.js';
import type { ValueView } from '../../simulator/commands/schemas/value.js';
import { type Commanded, decodeCommand, encodePayload, type Metric, TYPES } from './payload.js';

type SparkplugValue = Pick<ValueView, 'name' | 'value' | 'type'>;

/** A metric in a command, and the value to write. */
export interface WrittenMetric {
  readonly device: string;
  readonly name: string;
  readonly value: number | string;
}

/** The settings and functions that a node gets from its bench. */
export interface NodeOrder extends SparkplugDefinition {
  /** Whether commands may write values. */
  readonly mayWrite: boolean;
  /** Shortest time between two messages about one value, in ms. */
  readonly every: number;
  /** Opens a connection to the broker. */
  readonly connect: (
    events: Omit<BrokerEvents, 'log'>,
  ) => Pick<Broker, 'publish' | 'subscribe' | 'end' | 'status' | 'isBusy'>;
  /** The named values of a device; undefined if the device is gone. */
  readonly valuesOf: (device: string) => Promise<readonly SparkplugValue[] | undefined>;
  readonly write: (written: WrittenMetric) => Promise<Outcome<unknown>>;
  /** Runs work and reports its failure, without affecting other work. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  /** Called for each command that is refused. */
  readonly refused: (topic: string, why: Refusal) => void;
}

const REBIRTH = 'Node Control/Rebirth';
/** Shortest time between two requested births of a node, in ms. */
const REBIRTH_MS = 1000;

/**
 * The bench as a Sparkplug 3.0 edge node. The node has its own connection, whose last will is the node's
 * death message. The bench's devices are devices of the node; their named values are metrics. Section numbers
 * refer to the specification.
 */
export class SparkplugNode {
  readonly #order: NodeOrder;
  readonly #link: ReturnType<NodeOrder['connect']>;
  readonly #reported: Reported;
  #present: { readonly summary: Summary; readonly devices: readonly string[] } | undefined;
  /** The line states reported on this connection; undefined before the birth of the node. */
  #lines: ReadonlyMap<string, string> | undefined;
  /**
   * Devices whose birth was reported, with the types of their metrics. `#unborn` holds those whose birth is
   * still to be reported.
   */
  readonly #born = new Map<string, ReadonlyMap<string, Metric['type']>>();
  #unborn = new Set<string>();
  /** The device whose values are being read for its birth. */
  #bearing: string | undefined;
  /** Changes with each birth and death. Values that were read before a change are not reported after it. */
  #life = 0;
  #bornAt = Number.NEGATIVE_INFINITY;
  #isAsked = false;
  #isStopped = false;
  #bdSeq = -1;
  #seq = 0;
  #lost = 0;
  #refused = 0;

  constructor(order: NodeOrder) {
    this.#order = order;
    this.#reported = new Reported(order.every);
    this.#link = order.connect({
      will: () => this.#nextDeath(),
      connected: () => this.#connected(),
      arrived: (message) => void order.attempt(() => this.#arrived(message)),
    });
  }

  get status(): SparkplugStatus {
    const { group, node } = this.#order;
    return { group, node, ...this.#link.status, refused: this.#refused };
  }

  /** Whether the broker has accepted all reports, so that it is time to look for changes. */
  get isReady(): boolean {
    const { connected, waiting } = this.#link.status;
    return connected && waiting === 0;
  }

  /** Reports the death of the node, and disconnects. */
  async stop(): Promise<void> {
    // A look may be in progress, and the connection stays open until the broker acknowledges the death
    // message.
    this.#isStopped = true;
    const death = this.#death();
    this.#die();
    await this.#link.end(death);
  }

  /** Reports changes of the simulator as a whole: line states, and devices that were added or removed. */
  look(summary: Summary, devices: readonly string[]): void {
    this.#present = { summary, devices };
    const { lines } = summary;
    const { connected, waiting, lost } = this.#link.status;
    if (!connected) return;
    const states = statesOf(lines);
    // A dropped message has left a gap in the sequence.
    const isNeeded = this.#isAsked || (lost > this.#lost && waiting === 0);
    if (!this.#lines || !haveSameKeys(this.#lines, states) || (isNeeded && this.#isOld)) {
      this.#bear();
      return;
    }
    const reported = this.#lines;
    const changed = lines.filter(({ name, state }) => reported.get(name) !== state);
    this.#lines = states;
    if (changed.length > 0) this.#report('NDATA', undefined, changed.map(lineMetric));
    this.#compare(new Set(devices));
  }

  /** Reports the values of a device that have changed and are due. */
  report(device: string, values: readonly SparkplugValue[]): void {
    const types = this.#born.get(device);
    // Changes wait too; later the newest value of each is reported.
    if (!types || this.#link.isBusy) return;
    const metrics = this.#news(device, values);
    if (metrics.every(({ name, type }) => types.get(name) === type)) {
      if (metrics.length > 0) this.#report('DDATA', device, metrics);
      return;
    }
    // Data messages of a device may only contain metrics from its birth (6.4.21).
    this.#born.delete(device);
    this.#unborn.add(device);
    this.#bearDevices();
  }

  #news(device: string, values: readonly SparkplugValue[]): Metric[] {
    return values.flatMap((each) => {
      const { name, value } = each;
      return name !== null && this.#reported.isNews(device, name, value) ? metricOf(name, each) : [];
    });
  }

  get #isOld(): boolean {
    return performance.now() - this.#bornAt >= REBIRTH_MS;
  }

  /**
   * The last will of the next connection. It has its own number, which the births on that connection repeat
   * (6.4.25).
   */
  #nextDeath(): Publication {
    this.#die();
    this.#bdSeq = (this.#bdSeq + 1) % 256;
    return this.#death();
  }

  #death(): Publication {
    const payload = encodePayload({ timestamp: Date.now(), metrics: [this.#bdSeqMetric] });
    return { topic: this.#topic('NDEATH'), payload, qos: 1, isFleeting: true };
  }

  get #bdSeqMetric(): Metric {
    return { name: 'bdSeq', type: TYPES.int64, value: this.#bdSeq };
  }

  #die(): void {
    this.#life++;
    this.#lines = undefined;
    this.#born.clear();
    this.#unborn.clear();
  }

  #connected(): void {
    const { mayWrite } = this.#order;
    this.#link.subscribe([this.#topic('NCMD'), ...(mayWrite ? [`${this.#topic('DCMD')}/+`] : [])]);
    if (this.#present) this.#bear();
  }

  /** Reports the births of the node and of all devices; the sequence numbers start over (6.4.19). */
  #bear(): void {
    if (!this.#present || this.#isStopped) return;
    const { summary, devices } = this.#present;
    const { lines, program } = summary;
    this.#die();
    this.#reported.forget();
    this.#seq = 0;
    this.#isAsked = false;
    this.#bornAt = performance.now();
    this.#lost = this.#link.status.lost;
    this.#lines = statesOf(lines);
    this.#report('NBIRTH', undefined, [
      this.#bdSeqMetric,
      { name: REBIRTH, type: TYPES.boolean, value: false },
      { name: 'Properties/Version', type: TYPES.string, value: program.version },
      ...lines.map(lineMetric),
    ]);
    this.#unborn = new Set(devices);
    this.#bearDevices();
  }

  /**
   * Reports outstanding device births one after another. If the broker is busy, the rest follow after the
   * next look.
   */
  #bearDevices(): void {
    const [device] = this.#unborn;
    if (this.#bearing !== undefined || device === undefined || this.#link.isBusy) return;
    this.#bearing = device;
    this.#unborn.delete(device);
    void this.#order
      .attempt(() => this.#bearDevice(device))
      .then(() => {
        this.#bearing = undefined;
        this.#bearDevices();
      });
  }

  async #bearDevice(device: string): Promise<void> {
    const life = this.#life;
    const values = await this.#order.valuesOf(device);
    if (!values || life !== this.#life) return;
    this.#reported.forgetDevice(device);
    const metrics = this.#news(device, values);
    this.#born.set(device, new Map(metrics.map(({ name, type }) => [name, type])));
    this.#report('DBIRTH', device, metrics);
  }

  /** Reports devices that were added or removed. */
  #compare(present: ReadonlySet<string>): void {
    for (const device of this.#unborn) if (!present.has(device)) this.#unborn.delete(device);
    for (const device of this.#born.keys()) {
      if (present.has(device)) continue;
      this.#born.delete(device);
      this.#report('DDEATH', device, []);
    }
    this.#reported.keepOnly((device) => present.has(device));
    for (const device of present)
      if (!this.#born.has(device) && this.#bearing !== device) this.#unborn.add(device);
    this.#bearDevices();
  }

  #report(kind: string, device: string | undefined, metrics: readonly Metric[]): void {
    if (!this.#link.status.connected) return;
    const seq = this.#seq;
    this.#seq = (seq + 1) % 256;
    const topic = device === undefined ? this.#topic(kind) : `${this.#topic(kind)}/${level(device)}`;
    const payload = encodePayload({ timestamp: Date.now(), metrics, seq });
    this.#link.publish({ topic, payload, qos: 0, isFleeting: true });
  }

  #topic(kind: string): string {
    const { group, node } = this.#order;
    return `spBv1.0/${group}/${kind}/${node}`;
  }

  async #arrived({ topic, payload, isRetained }: Arrived): Promise<void> {
    if (isRetained) return;
    const [, , , , device] = topic.split('/');
    const metrics = decodeCommand(payload) ?? [];
    let first: Refusal | undefined =
      metrics.length > 0
        ? undefined
        : refusal('request.invalid', '', 'expected a Sparkplug B payload with 1 to 1000 metrics');
    if (first) this.#refused++;
    for (const metric of metrics) {
      const outcome =
        device === undefined ? this.#control(metric) : await this.#write(nameIn(device) ?? '', metric);
      if (outcome.ok) continue;
      this.#refused++;
      first ??= outcome;
    }
    // Only the first mistake in a command is reported.
    if (first) this.#order.refused(topic, first);
  }

  /** Carries out a command to the node (6.4.23). */
  #control({ name = '', value }: Commanded): Outcome<undefined> {
    if (name !== REBIRTH) return refusal('request.invalid', name, unknownName('metric', name, [REBIRTH]));
    if (typeof value !== 'boolean') return refusal('request.invalid', name, 'expected a boolean');
    if (value) {
      this.#isAsked = true;
      if (this.#lines && this.#isOld) this.#bear();
    }
    return done(undefined);
  }

  async #write(device: string, { name = '', value }: Commanded): Promise<Outcome<unknown>> {
    const types = this.#born.get(device);
    if (!types) return refusal('device.unknown', '', unknownName('device', device, [...this.#born.keys()]));
    const type = types.get(name);
    if (type === undefined)
      return refusal('request.invalid', name, unknownName('metric', name, [...types.keys()]));
    const expected = { [TYPES.boolean]: 'boolean', [TYPES.string]: 'string' }[type as number] ?? 'number';
    if (value === undefined || typeof value !== expected)
      return refusal('request.invalid', name, `expected a ${expected}`);
    return this.#order.write({ device, name, value: typeof value === 'boolean' ? Number(value) : value });
  }
}

function statesOf(lines: Summary['lines']): Map<string, string> {
  return new Map(lines.map(({ name, state }) => [name, state]));
}

function haveSameKeys(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): boolean {
  return one.size === other.size && [...one.keys()].every((key) => other.has(key));
}

function lineMetric({ name, state }: Summary['lines'][number]): Metric {
  return { name: `Lines/${name}/State`, type: TYPES.string, value: state };
}

/**
 * Converts a value to a metric. A coil or a discrete input is a Boolean, text a String; any number is a
 * Double in the unit of the value.
 */
function metricOf(name: string, { value, type: stored }: SparkplugValue): Metric {
  if (stored === 'bit') return { name, type: TYPES.boolean, value: value === null ? null : value !== 0 };
  if (stored === 'string') return { name, type: TYPES.string, value: value === null ? null : String(value) };
  // In a view, numbers that JSON lacks (NaN, the infinities) or a double can't represent (large integers) are
  // text.
  return { name, type: TYPES.double, value: value === null ? null : Number(value) };
}
