import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { isMapping } from '../../common/schema/parts.js';
import type { Outcome } from '../../simulator/commands/refusal.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import type { Summary } from '../../simulator/commands/schemas/program.js';
import type { ValueView } from '../../simulator/commands/schemas/value.js';
import type { WrittenValue } from '../../simulator/commands/shown-values.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import type { ApiContext } from '../api/desk.js';
import { errorBody } from '../api/error-answer.js';
import type { ExtensionPart } from '../api/extension.js';
import { allParts } from '../rpc/rpc.js';
import { type Arrived, Broker, type BrokerEvents } from './broker.js';
import { Commands, jsonOf } from './commands.js';
import { Findings } from './findings.js';
import { discoveries } from './home-assistant.js';
import type { Publication } from './outbox.js';
import type { LinkOrder, LinkPart } from './part.js';
import { Inlets, level, nameIn, ValuesOut } from './values.js';

/** How often everything but the traffic is checked, in ms. */
const SUMMARY_MS = 1000;
/** How often rates are reported, in µs. */
const RATES_US = 5e6;
/** How often reports that wait for a busy broker check whether it is still busy, in ms. */
const BUSY_MS = 20;
/** Maximum number of devices named in the state. */
const MOST_NAMED = 1000;

/**
 * The link of a simulator to its broker: reports its state, values and findings, accepts values, and carries
 * out commands.
 */
export class MqttLink {
  readonly #desk: ApiContext;
  readonly #log: FastifyBaseLogger;
  readonly #order: LinkOrder;
  readonly #topic: string;
  readonly #since = new Date(Date.now() - 1000 * process.uptime()).toISOString();
  readonly #broker: Broker;
  readonly #values: ValuesOut | undefined;
  #parts: readonly LinkPart[] = [];
  /** Resolves when the extensions have joined. */
  readonly #begun: Promise<void>;
  readonly #inlets: Inlets;
  readonly #commands: Commands;
  readonly #findings: Findings;
  readonly #stopping = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #devices: readonly string[] = [];
  /** The topics of each device's values that were announced to Home Assistant. */
  readonly #announced = new Map<string, ReadonlySet<string>>();
  #summary: Summary | undefined;
  /** The second up to which sums were reported. */
  #summedTo = -1;
  #reported = '';
  #counted: { readonly at: number; readonly requests: number; readonly faults: number } | undefined;
  #hits = new Map<string, number>();
  /** The runs in progress. */
  #running: readonly { readonly id: number; readonly name: string }[] = [];

  constructor(
    desk: ApiContext,
    order: LinkOrder,
    log: FastifyBaseLogger,
    extensions: readonly ExtensionPart[],
  ) {
    this.#desk = desk;
    this.#log = log;
    this.#order = order;
    const { definition, credentials } = order;
    const { topic, publish, commands: authority } = definition;
    this.#topic = topic;
    const send = (message: Publication) => this.#broker.publish(message);
    this.#inlets = new Inlets(desk.rpc);
    this.#commands = new Commands(desk.rpc, { authority, bench: topic, publish: send });
    this.#findings = new Findings(
      desk,
      {
        written: (device, values, view) => this.#written(device, values, view),
        happened: async (view) => {
          this.#report(view.kind, view);
          if (view.kind === 'test') await this.#lookAtTests();
        },
        sample: (view) => this.#report('traffic', view),
      },
      definition.sample,
    );
    this.#broker = new Broker(
      { ...definition, credentials },
      {
        will: () => ({
          topic: `${topic}/state`,
          payload: JSON.stringify({ state: 'offline', labels: definition.labels }),
          retain: true,
        }),
        connected: () => this.#do(() => this.#connected()),
        arrived: (message) => this.#do(() => this.#arrived(message)),
        log: this.#logOf('MQTT'),
      },
    );
    this.#values = publish.values
      ? new ValuesOut({ topic: `${topic}/devices`, every: publish.every }, this.#broker)
      : undefined;
    this.#begun = this.#do(() => this.#join(extensions));
    void this.#findings.follow(this.#stopping.signal, (turn) => this.#do(turn));
    this.#every(SUMMARY_MS, () => this.#look());
    this.#every(publish.every, () => this.#reportValues());
  }

  get status(): MqttStatus {
    return {
      ...this.#broker.status,
      topic: this.#topic,
      unreadable: this.#inlets.unreadable,
      missed: this.#findings.missed,
      ...Object.assign({}, ...this.#parts.map(({ status }) => status)),
    };
  }

  /** Reports that the simulator is gone, and disconnects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    const payload = JSON.stringify({
      state: 'offline',
      labels: this.#order.definition.labels,
      time: new Date().toISOString(),
    });
    await this.#begun;
    await Promise.all([
      this.#broker.end({ topic: `${this.#topic}/state`, payload, retain: true }),
      ...this.#parts.map((part) => part.stop?.()),
    ]);
  }

  /** Returns the function that logs the state of a connection. */
  #logOf(name: string): BrokerEvents['log'] {
    let wasLost = false;
    return (kind, text) => {
      // After a warning about a lost connection, its return is logged at the same level.
      this.#log[kind === 'lost' || wasLost ? 'warn' : 'info'](`${name}: ${text}`);
      wasLost = kind === 'lost';
    };
  }

  async #join(extensions: readonly ExtensionPart[]): Promise<void> {
    const side = {
      order: this.#order,
      broker: this.#broker,
      logOf: (name: string) => this.#logOf(name),
      attempt: (work: () => Promise<void>) => this.#do(work),
      write: (input: { readonly device: string }) => this.#write(input),
      report: (kind: string, content: object) => this.#report(kind, content),
    };
    const parts = await Promise.all(extensions.map((extension) => extension.joinLink?.(side)));
    this.#parts = parts.filter((part) => part !== undefined);
  }

  /** Does work and logs its failure, so that later work is still done. */
  async #do(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.error(error, 'MQTT: a task failed');
    }
  }

  /** Repeats work at an interval. A round never starts before the previous one has ended. */
  #every(ms: number, work: () => Promise<void>): void {
    let isWorking = false;
    const turn = async () => {
      if (isWorking) return;
      isWorking = true;
      await this.#do(work);
      isWorking = false;
    };
    this.#timers.push(setInterval(() => void turn(), ms));
  }

  async #connected(): Promise<void> {
    const { commands } = this.#order.definition;
    this.#reported = '';
    this.#values?.forget();
    this.#broker.subscribe([
      ...(commands === 'none' ? [] : [`${this.#topic}/command/+`]),
      ...(commands === 'all' ? [`${this.#topic}/devices/+/set/+`] : []),
      ...this.#inlets.topics,
    ]);
    await this.#begun;
    for (const part of this.#parts) part.connected?.();
    await this.#look();
    await this.#reportValues();
    if (this.#order.definition.homeAssistant) await this.#announceAll(this.#broker.status.since);
  }

  /**
   * Announces the values of all devices to Home Assistant, as fast as the broker accepts them.
   * @param since start of the connection
   */
  async #announceAll(since: string): Promise<void> {
    for (const device of this.#devices) {
      const views = await allParts(await this.#desk.rpc.list('value.list', { device, from: 0, to: 0xffff }));
      if ('ok' in views) continue;
      const takesCommands = this.#order.definition.commands === 'all';
      const messages = discoveries(this.#topic, device, views, takesCommands);
      this.#takeBack(device, new Set(messages.map(({ topic }) => topic)));
      for (const message of messages) {
        while (this.#broker.isBusy && this.#broker.status.connected) await pause(BUSY_MS);
        // The next connection announces all devices again.
        if (!this.#broker.status.connected || this.#broker.status.since !== since) return;
        this.#broker.publish(message);
      }
    }
  }

  /**
   * Makes Home Assistant forget values that a device no longer has.
   * @param topics of the values that it still has
   */
  #takeBack(device: string, topics: ReadonlySet<string>): void {
    for (const topic of this.#announced.get(device) ?? [])
      if (!topics.has(topic)) this.#broker.publish({ topic, payload: '', retain: true });
    if (topics.size > 0) this.#announced.set(device, topics);
    else this.#announced.delete(device);
  }

  /** Reports changes to the simulator as a whole. */
  async #look(): Promise<void> {
    const { rpc } = this.#desk;
    const outcome = await rpc.call('program.summary', undefined);
    if (!outcome.ok) return;
    const before = this.#summary;
    const now = outcome.value;
    this.#summary = now;
    this.#reportRates(now);
    if (before?.devices.edition !== now.devices.edition) {
      const devices = await allParts(await rpc.list('device.list', undefined));
      if (!('ok' in devices)) {
        this.#devices = devices.map(({ name }) => name);
        for (const device of this.#announced.keys())
          if (!this.#devices.includes(device)) this.#takeBack(device, new Set());
        this.#values?.keepOnly(new Map(devices.map(({ name, names }) => [name, new Set(names)])));
      }
    }
    if (before?.devices.signals !== now.devices.signals) {
      const { gone, added } = await this.#inlets.refresh();
      this.#broker.unsubscribe(gone);
      this.#broker.subscribe(added);
    }
    if (before?.faults.hits !== now.faults.hits || before?.faults.changes !== now.faults.changes)
      await this.#reportHits();
    this.#reportState(now);
    for (const part of this.#parts) part.look?.(now, this.#devices);
  }

  #reportState({ program, lines }: Summary): void {
    const { definition, rest } = this.#order;
    const state = {
      state: 'online',
      version: program.version,
      run: program.run,
      host: hostname(),
      since: this.#since,
      labels: definition.labels,
      commands: definition.commands,
      lines: lines.map(({ name, state, reason, place }) => ({ name, state, reason, place })),
      devices: this.#devices.slice(0, MOST_NAMED),
      ...(this.#devices.length > MOST_NAMED && { moreDevices: this.#devices.length - MOST_NAMED }),
      rules: [...this.#hits.keys()],
      running: this.#running.map(({ id }) => id),
      tests: this.#running.map(({ name }) => name),
      rest,
    };
    const text = JSON.stringify(state);
    if (text === this.#reported || !this.#broker.status.connected) return;
    this.#reported = text;
    const payload = JSON.stringify({ ...state, time: new Date().toISOString() });
    this.#broker.publish({ topic: `${this.#topic}/state`, payload, retain: true });
  }

  /** Reports the rates of requests and faults, per second, since the last report. */
  #reportRates(now: Summary): void {
    const { monotonicUs: at, lines, faults } = now;
    const requests = lines.reduce((sum, { counters }) => sum + counters.requests, 0);
    const before = this.#counted;
    if (before && at - before.at < RATES_US) return;
    this.#counted = { at, requests, faults: faults.hits };
    if (!before || !this.#broker.status.connected) return;
    const rate = (from: number, to: number) =>
      Math.max(0, Math.round((1e7 * (to - from)) / (at - before.at)) / 10);
    const rates = { requests: rate(before.requests, requests), faults: rate(before.faults, faults.hits) };
    this.#broker.publish({ topic: `${this.#topic}/rates`, payload: JSON.stringify(rates) });
    void this.#reportSums();
  }

  /** Reports the traffic of each line since the last report, over all units. */
  async #reportSums(): Promise<void> {
    const { sums } = this.#desk;
    await sums.read();
    const payload = JSON.stringify({ lines: sums.byLine(this.#summedTo + 1) });
    this.#summedTo = sums.last;
    this.#broker.publish({ topic: `${this.#topic}/sums`, payload });
  }

  /** Reports each rule that has acted since the last check, once. */
  async #reportHits(): Promise<void> {
    const rules = await allParts(await this.#desk.rpc.list('rule.list', undefined));
    if ('ok' in rules) return;
    const before = this.#hits;
    this.#hits = new Map(rules.map(({ name, hits }) => [name, hits]));
    for (const { name: rule, hits, lastHit: time } of rules)
      if (hits > (before.get(rule) ?? 0)) this.#report('rule', { rule, hits, time });
  }

  async #lookAtTests(): Promise<void> {
    const { rpc } = this.#desk;
    const runs = await rpc.call('run.list', {});
    this.#running = (runs.ok ? runs.value : []).flatMap(({ id, isOver, report }) =>
      isOver ? [] : [{ id, name: report.name }],
    );
  }

  async #reportValues(): Promise<void> {
    const isReady = this.#values !== undefined && this.#broker.status.connected;
    const parts = this.#parts.filter((part) => part.isReady);
    if (!isReady && parts.length === 0) return;
    for (const device of this.#devices) {
      const outcome = await this.#desk.rpc.list('value.named', { device });
      if (!outcome.ok) continue;
      for await (const values of outcome.value) {
        if (isReady) this.#values?.report(device, values);
        for (const part of parts) part.report?.(device, values);
      }
    }
  }

  #reportNow(device: string, values: readonly ValueView[]): void {
    this.#values?.report(device, values);
    for (const part of this.#parts) part.report?.(device, values);
  }

  async #written(
    device: string,
    written: readonly WrittenValue[],
    { line, client, time }: TrafficView,
  ): Promise<void> {
    if (written.length === 0) return;
    const range = { from: 0, to: 0xffff, names: written.map(({ name }) => name).join(',') };
    const present = await allParts(await this.#desk.rpc.list('value.list', { device, ...range }));
    if ('ok' in present) return;
    this.#reportNow(device, present);
    for (const [i, { name, ...now }] of present.entries()) {
      // The current value may be newer than this write; it is reported with its own write.
      const { value, raw, label } = written[i]?.asWritten ?? { ...now, label: undefined };
      this.#broker.publish({
        topic: `${this.#topic}/devices/${level(device)}/written/${level(name ?? '')}`,
        payload: JSON.stringify({ value, raw, label, line, client: client ?? null, time }),
      });
    }
  }

  #report(kind: string, content: object): void {
    this.#broker.publish({ topic: `${this.#topic}/events/${kind}`, payload: JSON.stringify(content) });
  }

  async #arrived(message: Arrived): Promise<void> {
    const { topic, isRetained } = message;
    for (const part of this.#parts) part.arrived?.(topic, message.payload);
    await this.#inlets.arrived(topic, message.payload);
    if (!topic.startsWith(`${this.#topic}/`) || isRetained) return;
    const [kind, first = '', verb, last = '', ...more] = topic.slice(this.#topic.length + 1).split('/');
    if (kind === 'command' && verb === undefined) {
      const refused = await this.#commands.arrived(first, message);
      if (refused) this.#report('refused', { topic, ...errorBody(refused) });
    } else if (kind === 'devices' && verb === 'set' && more.length === 0) {
      await this.#set(message, { device: nameIn(first) ?? '', name: nameIn(last) ?? '' });
    }
  }

  /** Carries out `set/NAME` as the command `value.set`. The payload is a value, or an object in REST form. */
  async #set(message: Arrived, where: { readonly device: string; readonly name: string }): Promise<void> {
    const parsed = jsonOf(message.payload);
    const { value } = { value: undefined, ...parsed };
    const input = isMapping(value) ? { ...value, ...where } : { value, ...where };
    const outcome = parsed.ok ? await this.#write(input) : parsed;
    if (!outcome.ok) this.#report('refused', { topic: message.topic, ...errorBody(outcome) });
  }

  async #write(input: { readonly device: string }): Promise<Outcome<unknown>> {
    const outcome = await this.#commands.carryOut('value.set', input);
    if (outcome.ok) this.#reportNow(input.device, [outcome.value as ValueView]);
    return outcome;
  }
}
