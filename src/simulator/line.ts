import type { Logger } from 'pino';
import { OK } from '../common/result.js';
import type { FaultRules } from '../device/faults/rules.js';
import type { Connection } from '../device/manners.js';
import type { LineDefinition, RealTarget } from '../document/configuration.js';
import { lineSettings } from '../document/native/line-source.js';
import type { ModbusClient } from '../modbus/client/client.js';
import type { Framing } from '../modbus/protocol/framing.js';
import { FRAMINGS } from '../modbus/protocol/framings.js';
import { silence } from '../modbus/protocol/reply-plan.js';
import { characterTime } from '../modbus/protocol/timing.js';
import { type Clock, systemClock } from '../modbus/transport/clock.js';
import { portBehind } from '../modbus/transport/port/port-path.js';
import { SerialLine } from '../modbus/transport/serial/serial-line.js';
import { SocketLine } from '../modbus/transport/socket/socket-line.js';
import type {
  LineEvent,
  LineHandler,
  LineReply,
  LineRequest,
  LineState,
  SerialSide,
  Transport,
  TransportStart,
} from '../modbus/transport/transport.js';
import { Bus } from './bus/bus.js';
import { PendingReplies, Reply } from './bus/reply.js';
import type { Served } from './bus/stations.js';
import { busLine } from './bus-line.js';
import { isInTheWay, type WayOfChange, wayOfChange } from './line-change.js';
import { LineTraffic, type TrafficLine } from './line-traffic.js';
import type { LineCounters, LineMeters } from './traffic/counters.js';
import type { TestEvent } from './traffic/event.js';
import type { TrafficStream } from './traffic/stream.js';
import type { LineSums } from './traffic/sums.js';
import { Unsolicited } from './unsolicited.js';

/** Creates a line's transport, and provides the time of its events. */
export interface LineTools {
  readonly clock: Clock;
  readonly newTransport: (definition: LineDefinition, framing: Framing, handler: LineHandler) => Transport;
  /** Creates the clients of real devices; the usual ones when absent. */
  readonly newRealClient?: (target: RealTarget) => ModbusClient;
}

export interface LineContext {
  readonly faults: FaultRules;
  readonly traffic: TrafficStream;
  readonly log: Logger;
  /** The tools of the line. Tests pass others, to run in virtual time. */
  readonly tools?: LineTools;
}

const SYSTEM_TOOLS: LineTools = {
  clock: systemClock,
  newTransport: (definition, framing, handler) =>
    definition.kind === 'serial'
      ? new SerialLine(definition, framing, handler)
      : new SocketLine(definition, framing, handler),
};

/** The result of a start, stop or change of a line. `error` is one sentence that names the endpoint. */
export type LineOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: string; readonly inUse?: boolean };

/** The new definition of a line, with its devices. */
export interface WantedLine {
  readonly definition: LineDefinition;
  readonly served: Served;
}

/**
 * A serial port or listening socket with the devices behind it. A line can be stopped, started and redefined
 * while its devices keep their registers. Starts, stops and changes are queued.
 */
export class Line implements LineHandler {
  readonly name: string;
  readonly bus: Bus;
  readonly #traffic: LineTraffic;
  readonly #pending: PendingReplies;
  readonly #unsolicited: Unsolicited;
  readonly #log: Logger;
  /** The last of the starts, stops and changes, which run one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #tools: LineTools;
  #definition: LineDefinition;
  #transport: Transport;
  /** Why the last start failed. */
  #failure: string | undefined;
  #openedAt: number | undefined;
  #lastClientId = 0;
  readonly #connections = new Map<number, Connection>();
  /** When the last connection was made, by the address that its client connected to. */
  readonly #lastConnection = new Map<string | undefined, number>();

  constructor(
    definition: LineDefinition,
    served: Served,
    { faults, traffic, log, tools = SYSTEM_TOOLS }: LineContext,
  ) {
    this.name = definition.name;
    this.#log = log;
    this.#tools = tools;
    this.#definition = definition;
    this.bus = new Bus(busLine(definition), served, faults);
    this.#traffic = new LineTraffic(
      trafficLine(definition),
      traffic,
      (host) => this.bus.activityAt(host),
      log,
      () => tools.clock.now(),
    );
    this.#pending = new PendingReplies((asked, reply, report) =>
      this.#traffic.replied(asked, reply, this.#unsolicited.replied(asked.request, reply, report)),
    );
    this.#unsolicited = new Unsolicited(tools.clock, this.name, {
      framing: () => this.bus.framing,
      send: (bytes, how) =>
        this.state.kind === 'open' ? this.#transport.sendUnsolicited?.(bytes, how) : undefined,
      sent: (event) => this.event(event),
    });
    this.#unsolicited.change(definition);
    this.#transport = this.#newTransport(definition);
  }

  get definition(): LineDefinition {
    return this.#definition;
  }

  get counters(): Readonly<LineCounters> {
    return this.#traffic.counters;
  }

  get sums(): LineSums {
    return this.#traffic.sums;
  }

  get meters(): LineMeters {
    return this.#traffic.meters;
  }

  get state(): LineState {
    return this.#failure === undefined ? this.#transport.state : { kind: 'failed', reason: this.#failure };
  }

  /** The number of connected clients; undefined if it can't be known. */
  get clients(): number | undefined {
    return this.#transport.clients;
  }

  /** When the line was opened, in ms of `performance.now()`; undefined if it is not open. */
  get openSince(): number | undefined {
    return this.state.kind === 'open' ? this.#openedAt : undefined;
  }

  get oldestPending(): LineReply | undefined {
    return this.#pending.oldest;
  }

  /** The serial side of the line; undefined for a socket. */
  get serial(): SerialSide | undefined {
    return this.#transport.serial;
  }

  /**
   * Opens the line. A line that is open, or waits for its port, does not change.
   * @param how with `waits`, a line that can't be opened waits for its port, whatever its definition says
   */
  start(how?: { readonly waits: boolean }): Promise<LineOutcome> {
    return this.#afterOthers(() => this.#start(how));
  }

  /** Closes the line and cancels pending replies. */
  stop(): Promise<void> {
    return this.#afterOthers(async () => {
      const { kind } = this.state;
      await this.#stop();
      if (kind === 'open' || kind === 'waiting') this.#traffic.state('stopped', 'stopped');
    });
  }

  /**
   * Closes the line and opens it again. A line that waits for its port keeps waiting if the port is still
   * missing. A socket that can't be reopened, for example because its certificate has become invalid, stays
   * open as it was.
   */
  restart(): Promise<LineOutcome> {
    return this.#afterOthers(async () => {
      const { kind } = this.state;
      if (kind === 'open' && this.#definition.kind !== 'serial') {
        return this.#exchange(this.#definition, 'beside or replace', () => {});
      }
      await this.#stop();
      return this.#start({ waits: kind === 'waiting' });
    });
  }

  /**
   * Gives the line another definition. Registers and counters stay, and so does an open port if its settings
   * need not change. If the port or the operating system refuses, the line stays as it was. A line that waits
   * for its port then waits with the new settings.
   * @param wanted makes the new definition from the present one when this change begins; undefined leaves the
   * line unchanged
   */
  change(
    wanted: (now: LineDefinition) => WantedLine | undefined | Promise<WantedLine | undefined>,
  ): Promise<LineOutcome> {
    return this.#afterOthers(async () => {
      const next = await wanted(this.#definition);
      if (next === undefined) return OK;
      const before = this.#definition;
      const changed = await this.#change(next);
      // The same definition with other devices does not change the line.
      if (changed.ok && next.definition === before) return changed;
      if (changed.ok) this.#traffic.state('changed', JSON.stringify(lineSettings(next.definition)));
      else this.#log.info({ reason: changed.error }, 'line not changed');
      return changed;
    });
  }

  #afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  newClientId(): number {
    return ++this.#lastClientId;
  }

  owns(unitId: number): boolean {
    return this.bus.stations.owns(unitId);
  }

  /** Handles a request: chooses the answer, starts the reply, and then reports the request. */
  request(request: LineRequest, begin: (reply: LineReply) => void): void {
    const { framing } = this.bus;
    const asked = this.#traffic.asked(request, framing);
    const { startedAt, receivedAt, clientId, host } = request;
    const connection = this.#connections.get(clientId);
    if (connection) connection.requests++;
    const moment = { startedAt, receivedAt, quietSince: this.#traffic.quietSince(host), connection };
    // The units of the line may have changed since its framer found the request.
    const reply = this.bus.answer(request, moment) ?? new Reply(framing, silence('no such unit'));
    if (reply.next) this.#transport.reframe(reply.next);
    this.#unsolicited.beforeReply(reply);
    this.#pending.add(asked, reply);
    begin(reply);
    this.#traffic.reportRequest();
  }

  event(event: LineEvent): void {
    if (event.kind === 'open') {
      this.#openedAt = this.#tools.clock.now();
      this.#unsolicited.start();
    }
    if (event.kind === 'client') this.#connected(event);
    if (event.kind === 'client-gone') {
      this.bus.forget(event.clientId);
      this.#connections.delete(event.clientId);
    }
    this.#traffic.event(event, this.bus.framing);
  }

  #connected({ clientId, host }: Extract<LineEvent, { kind: 'client' }>): void {
    const since = this.#tools.clock.now();
    const last = this.#lastConnection.get(host);
    const afterLast = last === undefined ? undefined : since - last;
    const connection: Connection = { since, afterLast, requests: 0 };
    this.#lastConnection.set(host, since);
    this.#connections.set(clientId, connection);
    this.bus.connected(connection, host);
  }

  /**
   * Sends unsolicited bytes once, as soon as the line is free.
   * @returns a function that cancels bytes not yet sent; undefined if they need not wait
   */
  sendUnsolicited(bytes: Uint8Array): (() => void) | undefined {
    return this.#unsolicited.once(bytes);
  }

  /** Adds a message about a real device on the line to the traffic. */
  report(text: string): void {
    this.#traffic.state('real device', text);
  }

  /** Adds the progress of a test on the line to the traffic. */
  tested(progress: Pick<TestEvent, 'test' | 'state' | 'text'>): void {
    this.#traffic.tested(progress);
  }

  #newTransport(definition: LineDefinition): Transport {
    return this.#tools.newTransport(definition, FRAMINGS[definition.framing], this);
  }

  async #start({ waits = false } = {}): Promise<LineOutcome> {
    const { kind } = this.state;
    if (kind === 'open' || kind === 'waiting') return OK;
    await this.#transport.stop();
    return this.#opened(await this.#open({ waits: waits || this.#definition.start === 'waiting' }));
  }

  async #stop(): Promise<void> {
    this.#failure = undefined;
    this.#unsolicited.stop();
    await this.#transport.stop();
  }

  /** Opens the transport in its power-up state: an ASCII line has its default delimiter again. */
  #open(how: { readonly waits: boolean }): Promise<TransportStart> {
    this.bus.reopened();
    this.#transport.reframe(this.bus.framing);
    return this.#transport.start(how);
  }

  /**
   * The outcome of opening a line. A line that waits for its port keeps waiting even if a port appears that
   * lacks a requested feature.
   */
  #opened(started: TransportStart): LineOutcome {
    const { kind } = this.#transport.state;
    const isUnfit = kind === 'failed' && this.serial !== undefined;
    if (started.ok || kind === 'waiting' || isUnfit) {
      this.#failure = undefined;
      if (!started.ok && kind === 'waiting') this.#waitsFor(started.error);
      return OK;
    }
    this.#failure = started.error;
    this.#traffic.state('not opened', started.error);
    return started;
  }

  /** Reports once that the line waits for its port. A different reason later is only logged, at level `debug`. */
  #waitsFor(reason: string): void {
    this.#log.warn({ reason }, 'line did not open, waiting until it does');
    this.#traffic.state('waiting', reason);
  }

  async #change({ definition, served }: WantedLine): Promise<LineOutcome> {
    const { state } = this;
    const way = this.#wayTo(definition);
    const adopt = () => {
      this.#definition = definition;
      this.bus.change(busLine(definition), served);
      this.#traffic.change(trafficLine(definition));
      this.#unsolicited.change(definition);
    };
    if (way === 'keep' || way === 'adjust') {
      adopt();
      if (way === 'adjust' && definition.kind === 'serial') this.serial?.change(definition, this.bus.framing);
      return OK;
    }
    const isWaiting = state.kind === 'waiting' && mayWait(definition);
    if (state.kind !== 'stopped' && !isWaiting) return this.#exchange(definition, way, adopt);
    // A closed line has no clients whose connections could break. A line that waits for its port waits for
    // the new one instead.
    await this.#stop();
    this.#transport = this.#newTransport(definition);
    adopt();
    return isWaiting ? this.#opened(await this.#open({ waits: true })) : OK;
  }

  #wayTo(definition: LineDefinition): WayOfChange {
    return wayOfChange(this.#definition, definition, this.#openPort, followed);
  }

  /** True if this line has, or waits for, a port that another line may need. */
  isInTheWayOf(other: LineDefinition): boolean {
    const { kind } = this.state;
    if (kind !== 'open' && kind !== 'waiting') return false;
    return isInTheWay(this.#definition, other, this.#openPort, followed);
  }

  get #openPort(): number | undefined {
    const { state } = this;
    return state.kind === 'open' ? state.port : undefined;
  }

  /**
   * Opens another transport alongside the open one, or instead of it, and closes the old one. Calls `adopt`
   * once the new one is open, before anything arrives on it. If opening fails, the line stays as it was.
   */
  async #exchange(
    definition: LineDefinition,
    way: Exclude<WayOfChange, 'keep' | 'adjust'>,
    adopt: () => void,
  ): Promise<LineOutcome> {
    const before = this.#transport;
    const next = this.#newTransport(definition);
    const beside = way === 'replace' ? undefined : await next.start();
    const collides = !beside || (way === 'beside or replace' && !beside.ok && beside.inUse === true);
    const started = collides ? await this.#replaceBy(next) : beside;
    if (!started.ok) return started;
    adopt();
    this.bus.reopened();
    this.#transport = next;
    this.#failure = undefined;
    await before.stop();
    return OK;
  }

  /** Closes the open transport and opens `next`. If that fails, the old transport is reopened. */
  async #replaceBy(next: Transport): Promise<TransportStart> {
    await this.#transport.stop();
    const started = await next.start();
    // A line that had already failed stays failed, for the same reason.
    if (!started.ok && this.#failure === undefined) {
      this.#opened(await this.#open({ waits: mayWait(this.#definition) }));
    }
    return started;
  }
}

function followed(path: string): string {
  return portBehind(path) ?? path;
}

/**
 * True if the line may wait for its port: a serial line always, because its port existed before; a socket
 * only if its definition says so.
 */
function mayWait({ kind, start }: LineDefinition): boolean {
  return kind === 'serial' || start === 'waiting';
}

function trafficLine(definition: LineDefinition): TrafficLine {
  const { name } = definition;
  return { name, characterTime: definition.kind === 'serial' ? characterTime(definition) : 0 };
}
