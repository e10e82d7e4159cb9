import type { Logger } from 'pino';
import type { Activity } from '../device/diagnostics.js';
import type { ActedFault } from '../device/faults/apply.js';
import type { Framing } from '../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../modbus/protocol/function-code.js';
import type { PlayReport } from '../modbus/protocol/reply-plan.js';
import type { LineEvent, LineRequest, TimedBytes } from '../modbus/transport/transport.js';
import type { Reply, TracedRequest } from './bus/reply.js';
import { countEvent, type LineCounters, LineMeters, newCounters } from './traffic/counters.js';
import type { ClientOf, LineStateEvent, NewEvent, Received, TestEvent } from './traffic/event.js';
import { EventLog } from './traffic/log-event.js';
import type { TrafficStream } from './traffic/stream.js';
import { LineSums } from './traffic/sums.js';

/** A request to another device. `at` is when its last byte was read, in ms of `performance.now()`. */
interface ForeignRequest {
  readonly seq: number;
  readonly unitId: number;
  readonly functionCode: number;
  readonly at: number;
}

interface ForeignResponse {
  readonly unitId: number;
  /** The function code with the exception flag. */
  readonly functionCode: number;
  readonly startedAt: number;
}

/** Maximum number of unanswered requests that are remembered. */
const MOST_UNANSWERED = 32;
/** A request can be answered for this long, in ms. */
const LONGEST_WAIT_MS = 10_000;

/**
 * Unanswered requests to other devices, in order of arrival. A response answers the newest request with its
 * unit identifier and function; older requests to that unit will not be answered any more. A slow device may
 * answer after its master has already asked another unit.
 */
class ForeignRequests {
  #requests: readonly ForeignRequest[] = [];

  asked({ seq, unitId, functionCode, at }: ForeignRequest): void {
    // A broadcast is never answered.
    if (unitId !== 0)
      this.#requests = [...this.#requests, { seq, unitId, functionCode, at }].slice(-MOST_UNANSWERED);
  }

  /**
   * Finds and removes the request that a response answers; undefined if that request was not received.
   * @param startedAt when the first byte of the response arrived, in ms of `performance.now()`
   */
  answered({ unitId, functionCode, startedAt }: ForeignResponse): ForeignRequest | undefined {
    const asked = this.#requests.findLast(
      (request) => request.unitId === unitId && request.functionCode === (functionCode & ~EXCEPTION_FLAG),
    );
    if (!asked) return undefined;
    this.#requests = this.#requests.filter((each) => each.unitId !== unitId || each.seq > asked.seq);
    return startedAt - asked.at <= LONGEST_WAIT_MS ? asked : undefined;
  }
}

export interface TrafficLine {
  readonly name: string;
  /** Time of one character on the wire, in ms; 0 if the line is not serial. */
  readonly characterTime: number;
}

/** Maximum number of faults stored per reply: the first ones and the last. */
const MAX_KEPT_FAULTS = 64;

/**
 * Creates an event for everything that passes a line. Passes the event on to the stream of all traffic, the
 * line's counters, the communication counters of its devices, and the log.
 */
export class LineTraffic {
  readonly counters: LineCounters = newCounters();
  readonly meters = new LineMeters();
  readonly sums = new LineSums();
  #line: TrafficLine;
  readonly #number: number;
  readonly #stream: TrafficStream;
  readonly #activityAt: (host: string | undefined) => Activity;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #eventLog: EventLog;
  /** When the last character was received or sent, for each address of the line; absent before the first. */
  readonly #quietSince = new Map<string | undefined, number>();
  readonly #foreign = new ForeignRequests();
  /** The last request, until its event is created. */
  #unreported: TracedRequest | undefined;

  /**
   * @param activityAt the counts of the devices at an address of the line, or of all devices if the line has
   * one address
   * @param now the time in ms of `performance.now()`
   */
  constructor(
    line: TrafficLine,
    stream: TrafficStream,
    activityAt: (host: string | undefined) => Activity,
    log: Logger,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now;
    this.#line = line;
    this.#number = stream.lineNumber(line.name);
    this.#stream = stream;
    this.#activityAt = activityAt;
    this.#log = log;
    this.#eventLog = new EventLog(log);
  }

  /**
   * When the last character was received or sent at an address of the line, in ms of `performance.now()`;
   * undefined before the first.
   */
  quietSince(host: string | undefined): number | undefined {
    return this.#quietSince.get(host);
  }

  /** Applies the new settings of the line. */
  change(line: TrafficLine): void {
    this.#line = line;
  }

  /**
   * Counts a request that is about to be executed. The devices' counters are updated now, because function 8
   * counts itself. The event is created by `reportRequest`, or before the next event of the line.
   */
  asked(request: LineRequest, framing: Framing): TracedRequest {
    this.reportRequest();
    this.#activityAt(request.host).messages++;
    this.#unreported = { request, framing, seq: 0 };
    return this.#unreported;
  }

  /** Creates the event of the last request, if it does not exist yet. */
  reportRequest(): void {
    const asked = this.#unreported;
    if (asked === undefined) return;
    this.#unreported = undefined;
    const { request, framing } = asked;
    const { unitId, pdu, adu, startedAt, receivedAt, client, clientId, host } = request;
    const isBroadcast = unitId === 0 && framing.broadcasts;
    asked.seq = this.#add({
      kind: isBroadcast ? 'broadcast' : 'request',
      at: receivedAt,
      client,
      clientId,
      host,
      bytes: adu,
      framing,
      startedAt,
      pause: this.#heard(startedAt, receivedAt, host),
      characterTime: this.#line.characterTime,
      unitId,
      functionCode: pdu[0] as number,
      answers: undefined,
    });
  }

  /** Creates the event of a reply whose plan has ended. */
  replied(asked: TracedRequest, { alone: plan, acted, framing, refused }: Reply, report: PlayReport): void {
    // A reply may finish before its request is in the traffic.
    this.reportRequest();
    const { request, seq } = asked;
    const { unitId, pdu, adu, receivedAt, client, clientId, host } = request;
    let at: number | undefined;
    for (const { outcome, achievedAt, endedAt } of report.steps) {
      if (outcome !== 'achieved') continue;
      at ??= achievedAt;
      this.#quietSince.set(host, endedAt);
    }
    this.#add({
      kind: 'reply',
      at: at ?? Math.max(receivedAt, report.steps[0]?.achievedAt ?? receivedAt),
      client,
      clientId,
      host,
      framing,
      request: seq,
      requestAdu: adu,
      requestedAt: receivedAt,
      unitId,
      functionCode: pdu[0] as number,
      plan,
      report,
      acted: firstAndLast(acted),
      omittedFaults: Math.max(0, acted.length - MAX_KEPT_FAULTS),
      refused,
    });
  }

  /** Creates an event for anything else that happens on the line. @param framing the framing of the line */
  event(event: LineEvent, framing: Framing): void {
    this.reportRequest();
    switch (event.kind) {
      case 'open':
        for (const note of event.notes) this.#log.warn({ place: event.endpoint }, note);
        this.state('open', event.endpoint);
        break;
      case 'lost':
        this.state('lost', event.reason);
        break;
      case 'retry':
        this.state('waiting', event.error);
        break;
      case 'failed':
        this.state('failed', event.text);
        break;
      case 'foreign':
        this.#foreignFrame(event, framing);
        break;
      case 'duplicate':
      case 'dropped':
        this.#add({ kind: event.kind, ...this.#frame(event.frame, framing, event), answers: undefined });
        break;
      case 'unsolicited':
        this.#add({ kind: 'unsolicited', ...this.#received(event.frame, framing, event) });
        break;
      case 'noise':
        this.#noise(event, framing);
        break;
      case 'damaged':
        this.#notice('damaged characters', event.count, event.isRest);
        break;
      case 'overrun':
        this.#notice('overrun', event.count);
        break;
      case 'echo':
      case 'loop':
      case 'collision':
        this.#notice(event.kind, 1);
        break;
      case 'client':
        this.#client('client', event, event.role ?? '');
        break;
      case 'client-gone':
        this.#client('client gone', event, event.text);
        break;
      case 'rejected':
        this.#add({ kind: 'client rejected', ...this.#from(event), reason: event.reason, text: event.text });
    }
  }

  state(state: LineStateEvent['state'], text: string): void {
    this.reportRequest();
    this.#add({ kind: 'line', at: this.#now(), state, text });
  }

  /** Creates an event for the progress of a test on the line. */
  tested({ test, state, text }: Pick<TestEvent, 'test' | 'state' | 'text'>): void {
    this.reportRequest();
    this.#add({ kind: 'test', at: this.#now(), test, state, text });
  }

  #foreignFrame(event: Extract<LineEvent, { kind: 'foreign' }>, framing: Framing): void {
    const frame = this.#frame(event.frame, framing, event);
    if (event.role === 'request') {
      const seq = this.#add({ kind: 'foreign request', ...frame, answers: undefined });
      this.#foreign.asked({ ...frame, seq });
      return;
    }
    const asked = this.#foreign.answered(frame);
    const answers = asked && { seq: asked.seq, after: frame.startedAt - asked.at };
    this.#add({ kind: 'foreign response', ...frame, answers });
  }

  #noise(event: Extract<LineEvent, { kind: 'noise' }>, framing: Framing): void {
    const { noise, isRest = false } = event;
    const isFrame = !isRest && noise.bytes.length <= framing.maxLength && framing.fields(noise.bytes);
    const received = this.#received(noise, framing, event);
    this.#add({ kind: isFrame ? 'damaged' : 'discarded', ...received, isRest });
  }

  #notice(
    kind: 'echo' | 'loop' | 'collision' | 'overrun' | 'damaged characters',
    count: number,
    isRest = false,
  ): void {
    this.#add({ kind, at: this.#now(), count, isRest });
  }

  #client(kind: 'client' | 'client gone', of: ClientOf, text: string): void {
    this.#add({ kind, ...this.#from(of), text });
  }

  #from({ client, clientId, host }: ClientOf): ClientOf & { readonly at: number } {
    return { at: this.#now(), client, clientId, host };
  }

  #frame(frame: TimedBytes, framing: Framing, from: Partial<ClientOf>) {
    const { unitId = 0, pdu } = framing.fields(frame.bytes) ?? {};
    return { ...this.#received(frame, framing, from), unitId, functionCode: pdu?.[0] ?? 0 };
  }

  #received(
    { bytes, startedAt, receivedAt }: TimedBytes,
    framing: Framing,
    { client, clientId = 0, host }: Partial<ClientOf>,
  ): Received & { readonly at: number } {
    const pause = this.#heard(startedAt, receivedAt, host);
    const { characterTime } = this.#line;
    return { at: receivedAt, client, clientId, host, bytes, framing, startedAt, pause, characterTime };
  }

  /** Time since the last character at the address, in ms; undefined for the first. */
  #heard(startedAt: number, receivedAt: number, host: string | undefined): number | undefined {
    const since = this.#quietSince.get(host);
    this.#quietSince.set(host, receivedAt);
    return since === undefined ? undefined : Math.max(0, startedAt - since);
  }

  #add(event: NewEvent): number {
    countEvent(this.counters, event);
    this.meters.count(event);
    this.sums.count(event, this.#line.characterTime);
    countActivity(this.#activityAt('host' in event ? event.host : undefined), event);
    this.#eventLog.event(event);
    return this.#stream.add(this.#number, event);
  }
}

/**
 * Counts an event for the devices' diagnostics. A damaged message counts as one communication error
 * (Application Protocol V1.1b3, 6.8, sub-function 12), even if several events report parts of it. Requests
 * were counted before they were executed.
 */
function countActivity(activity: Activity, event: NewEvent): void {
  switch (event.kind) {
    case 'foreign request':
    case 'foreign response':
    case 'duplicate':
      activity.messages++;
      break;
    case 'damaged':
    case 'discarded':
    case 'damaged characters':
      if (!event.isRest) activity.errors++;
      break;
    case 'overrun':
      activity.overruns += event.count;
  }
}

/** The last entry counts the faults that were not tried, so it is always included. */
function firstAndLast(acted: readonly ActedFault[]): readonly ActedFault[] {
  return acted.length <= MAX_KEPT_FAULTS
    ? acted
    : [...acted.slice(0, MAX_KEPT_FAULTS - 1), ...acted.slice(-1)];
}
