import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { type AddressRange, addressRanges } from '../../modbus/protocol/pdu.js';
import { decodeEvent, type ReadEvent, requestPduOf } from './decode.js';
import { DIRECTION_OF, type Direction, type EventKind, type ReplyEvent, type TrafficEvent } from './event.js';
import type { Outline } from './kept-events.js';
import { micros } from './time.js';

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
   * by a fault or missing.
   */
  readonly problems?: boolean | undefined;
  /** Wall-clock time in ms since 1970, both ends included, compared with the µs that events show. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * False when the outline of an event already shows that it does not pass. Most events are rejected here, and
 * never read.
 */
export function mayPass(filter: TrafficFilter, { line, time, kind, unitId, functionCode }: Outline): boolean {
  const { lines, units, functions, directions, kinds, rules, problems, since, until } = filter;
  return (
    (lines === undefined || lines.has(line)) &&
    (units === undefined || (unitId !== undefined && units.has(unitId))) &&
    (functions === undefined ||
      (functionCode !== undefined && functions.has(functionCode & ~EXCEPTION_FLAG))) &&
    (kinds === undefined || kinds.has(kind)) &&
    (directions === undefined || directions.has(DIRECTION_OF[kind])) &&
    (rules === undefined || kind === 'reply') &&
    (!problems || kind === 'reply' || PROBLEMS.has(kind)) &&
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
export function passes(
  { rules, problems, addresses, hosts }: TrafficFilter,
  event: TrafficEvent,
  read: ReadEvent,
): boolean {
  if (hosts && !('host' in event && event.host !== undefined && hosts.has(event.host))) return false;
  if (problems && event.kind === 'reply' && !isProblem(event, read)) return false;
  if (rules && !(event.kind === 'reply' && event.acted.some(({ rule }) => rules.has(rule)))) return false;
  if (addresses === undefined) return true;
  const pdu = requestPduOf(event, read);
  return (
    pdu !== undefined &&
    addressRanges(pdu).some((named) => addresses.some((wanted) => overlaps(named, wanted)))
  );
}

/** True when a reply is an exception, was changed by a fault, or was not sent completely. */
function isProblem(event: ReplyEvent, read: ReadEvent): boolean {
  const { acted, plan, report } = event;
  if (acted.length > 0 || plan.kind !== 'send' || report.ended !== 'complete') return true;
  return decodeEvent(event, read).message?.exception !== undefined;
}

function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.address < b.address + b.quantity && b.address < a.address + a.quantity;
}
