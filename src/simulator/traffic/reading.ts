import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { type AddressRange, addressRanges } from '../../modbus/protocol/pdu.js';
import { decodeEvent, type ReadEvent, requestPduOf } from './decode.js';
import {
  DIRECTION_OF,
  type Direction,
  type EventKind,
  type EventOf,
  type ReplyEvent,
  type TrafficEvent,
} from './event.js';
import type { KeptEvents, Outline } from './kept-events.js';
import { micros } from './words.js';

/** Which events are wanted. Every event meets an absent condition. */
export interface TrafficFilter {
  readonly lines?: ReadonlySet<string> | undefined;
  readonly units?: ReadonlySet<number> | undefined;
  /** The addresses of this machine that clients connected to, on lines with several. */
  readonly hosts?: ReadonlySet<string> | undefined;
  /** Function codes without the exception flag. */
  readonly functions?: ReadonlySet<number> | undefined;
  /** Addresses, one of which the request names; for a response, the request that it answers. */
  readonly addresses?: readonly AddressRange[] | undefined;
  readonly directions?: ReadonlySet<Direction> | undefined;
  readonly kinds?: ReadonlySet<EventKind> | undefined;
  /** The names of fault rules, one of which was to act on the reply. */
  readonly rules?: ReadonlySet<string> | undefined;
  /**
   * True for problems only: damage, requests that were not executed, and replies that are exceptions, changed
   * by a fault or missing. `ordered`: only what fault rules did; `unordered`: only all other problems.
   */
  readonly problems?: boolean | 'ordered' | 'unordered' | undefined;
  /** Wall-clock time in ms since 1970, both ends included, compared with the µs that events show. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * False when the outline of an event already shows that it does not pass. Most events are rejected here, and
 * never read.
 */
function mayPass(filter: TrafficFilter, { line, time, kind, unitId, functionCode }: Outline): boolean {
  const { lines, units, functions, directions, kinds, rules, problems, since, until } = filter;
  return (
    (lines === undefined || lines.has(line)) &&
    (units === undefined || (unitId !== undefined && units.has(unitId))) &&
    (functions === undefined ||
      (functionCode !== undefined && functions.has(functionCode & ~EXCEPTION_FLAG))) &&
    (kinds === undefined || kinds.has(kind)) &&
    (directions === undefined || directions.has(DIRECTION_OF[kind])) &&
    (rules === undefined || kind === 'reply') &&
    (!problems || kind === 'reply' || (problems !== 'ordered' && PROBLEMS.has(kind))) &&
    (since === undefined || micros(time) >= micros(since)) &&
    (until === undefined || micros(time) <= micros(until))
  );
}

/** The kinds of events that are always problems. Replies are only sometimes. */
const PROBLEMS: ReadonlySet<EventKind> = new Set([
  'damaged',
  'discarded',
  'duplicate',
  'dropped',
  'loop',
  'collision',
  'overrun',
  'damaged characters',
  'client rejected',
]);

/** True when an event passes that `mayPass` has let through. */
function passes(
  { rules, problems, addresses, hosts }: TrafficFilter,
  event: TrafficEvent,
  read: ReadEvent,
): boolean {
  if (hosts && !('host' in event && event.host !== undefined && hosts.has(event.host))) return false;
  if (problems && event.kind === 'reply' && !isProblem(event, read, problems)) return false;
  if (rules && !(event.kind === 'reply' && event.acted.some(({ rule }) => rules.has(rule)))) return false;
  if (addresses === undefined) return true;
  const pdu = requestPduOf(event, read);
  return (
    pdu !== undefined &&
    addressRanges(pdu).some((named) => addresses.some((wanted) => overlaps(named, wanted)))
  );
}

/** True when a reply is an exception, was changed by a fault, or was not sent completely. */
function isProblem(event: ReplyEvent, read: ReadEvent, wanted: TrafficFilter['problems']): boolean {
  const { acted, plan, report } = event;
  if (acted.length > 0 || wanted === 'ordered') return acted.length > 0 && wanted !== 'unordered';
  if (plan.kind !== 'send' || report.ended !== 'complete') return true;
  return decodeEvent(event, read).message?.exception !== undefined;
}

function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.address < b.address + b.quantity && b.address < a.address + a.quantity;
}

/** A range of sequence numbers. */
interface Span {
  /** Only events with higher numbers are read; all when absent. */
  readonly after?: number;
  /** No event with a higher number is read; without it, reading ends at the newest one. */
  readonly until?: number;
}

/**
 * The events of some kinds, the newest first. Each is read when it is requested, so a slow reader keeps
 * nothing in memory. Events that the stream has dropped meanwhile are left out.
 */
export function* newestFirst<Kind extends EventKind>(
  stream: KeptEvents,
  kinds: readonly Kind[],
  span: Span = {},
): Generator<EventOf<Kind>> {
  for (const event of wantedNewestFirst(stream, { kinds: new Set(kinds) }, span)) {
    if (event) yield event as EventOf<Kind>;
  }
}

/**
 * The events that pass a filter, the newest first, read like those of `newestFirst`. Sometimes yields
 * undefined while none passes, so that the caller can pause in a long search.
 */
export function* wantedNewestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
  { after = 0, until = stream.last }: Span = {},
): Generator<TrafficEvent | undefined> {
  for (let seq = until; seq > after && seq >= stream.first; seq--) {
    const event = wanted(stream, filter, seq);
    if (event) yield event;
    else if (seq % PASSED_OVER === 0) yield undefined;
  }
}

/** All events that pass a filter, the oldest first, read like those of `newestFirst`. */
export function wantedOldestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
): Generator<TrafficEvent | undefined> {
  return new TrafficCursor(stream, filter, stream.first - 1).events();
}

/** The number of unwanted events that are passed over before the caller may pause. They take a few µs. */
const PASSED_OVER = 64;

/**
 * Reads a stream forward from a sequence number, as fast as its caller asks, while the stream grows. Nothing
 * is read twice. Events that the stream drops before they are read are counted.
 */
export class TrafficCursor {
  readonly #stream: KeptEvents;
  readonly #filter: TrafficFilter;
  #after: number;
  #missed = 0;

  /**
   * @param after only events with higher numbers are read; a number that the stream has not reached stands
   * for the newest event
   */
  constructor(stream: KeptEvents, filter: TrafficFilter, after: number) {
    this.#stream = stream;
    this.#filter = filter;
    this.#after = Math.min(after, stream.last);
  }

  /**
   * The sequence number up to which everything was looked at. Another cursor that begins after it misses
   * nothing.
   */
  get after(): number {
    return this.#after;
  }

  /** True when everything was looked at. */
  get isAtEnd(): boolean {
    return this.#after >= this.#stream.last;
  }

  /**
   * How many events the stream has dropped before they could be looked at, whether or not the filter wanted
   * them.
   */
  get missed(): number {
    return this.#missed;
  }

  /**
   * The wanted events up to the number `until`, the oldest first. Sometimes yields undefined while none is
   * wanted, so that the caller can pause in a long search.
   */
  *events(until = this.#stream.last): Generator<TrafficEvent | undefined> {
    for (let looked = 1; this.#after < until; looked++) {
      const seq = this.#next();
      if (seq > until) return;
      this.#after = seq;
      const event = wanted(this.#stream, this.#filter, seq);
      if (event) yield event;
      else {
        // The event was dropped while it was looked at.
        if (seq < this.#stream.first) this.#missed++;
        if (looked % PASSED_OVER === 0) yield undefined;
      }
    }
  }

  /** The next number that is kept. Dropped events are counted as missed. */
  #next(): number {
    const next = this.#after + 1;
    const { first } = this.#stream;
    if (next >= first) return next;
    this.#missed += first - next;
    this.#after = first - 1;
    return first;
  }
}

/**
 * Goes back from the newest event until `count` wanted ones are found. Sometimes yields, so that the caller
 * can pause in a long search.
 * @returns the number after which these events begin
 */
export function* beginningOfNewest(
  stream: KeptEvents,
  filter: TrafficFilter,
  count: number,
  until: number,
): Generator<undefined, number> {
  let left = count;
  for (const event of wantedNewestFirst(stream, filter, { until })) {
    if (event && --left === 0) return event.seq - 1;
    yield undefined;
  }
  // Events that the stream drops from now on were not looked at, so they do not count as missed.
  return stream.first - 1;
}

function wanted(stream: KeptEvents, filter: TrafficFilter, seq: number): TrafficEvent | undefined {
  const outline = stream.outline(seq);
  if (!outline || !mayPass(filter, outline)) return undefined;
  const event = stream.read(seq);
  return event && passes(filter, event, (other) => stream.read(other)) ? event : undefined;
}
