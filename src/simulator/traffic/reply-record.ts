import type { ActedFault } from '../../device/faults/apply.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { FRAMINGS } from '../../modbus/protocol/framings.js';
import { REFUSALS } from '../../modbus/protocol/pdu.js';
import {
  achieved,
  type PlayReport,
  plainReply,
  type ReplyPlan,
  type Step,
  type StepReport,
} from '../../modbus/protocol/reply-plan.js';
import { type Reader, sizeOfText, type Writer } from './bytes.js';
import type { ClientOf, EventOf, FrameEvent, NewEvent, ReplyEvent, TrafficEvent } from './event.js';

/** Parts that several kinds of records share. */

/** The names of framings. The code of a framing is its index in this list. */
const FRAMING_NAMES = ['rtu', 'ascii', 'socket'] as const satisfies readonly Framing['name'][];

export function writeFraming(w: Writer, { name, delimiter = 0 }: Framing): void {
  w.byte(FRAMING_NAMES.indexOf(name));
  w.byte(delimiter);
}

export function readFraming(r: Reader): Framing {
  const framing = FRAMINGS[itemAt(FRAMING_NAMES, r.byte())];
  const delimiter = r.byte();
  return delimiter === framing.delimiter ? framing : (framing.withDelimiter?.(delimiter) ?? framing);
}

/** Maximum number of bytes for the texts of `writeClient`. */
export function sizeOfClient({ client = '', host = '' }: ClientOf): number {
  return sizeOfText(client) + sizeOfText(host);
}

export function writeClient(w: Writer, { client, clientId, host }: ClientOf): void {
  w.long(clientId);
  if (clientId === 0) return;
  w.text(client ?? '');
  w.text(host ?? '');
}

export function readClient(r: Reader): ClientOf {
  const clientId = r.long();
  if (clientId === 0) return { clientId, client: undefined, host: undefined };
  return { clientId, client: r.text(), host: r.text() || undefined };
}

/** The item of a list with this code. */
export function itemAt<Item>(items: readonly Item[], code: number): Item {
  const item = items[code];
  if (item === undefined) throw new Error(`a record has an unknown code: ${code}`);
  return item;
}

/**
 * The outcome of a request as bytes: the plan of its reply, with each step next to its report, and the faults
 * that acted.
 *
 * Nearly every reply comes from a well-behaved device, is sent at once, and has its record directly after
 * that of its request. Such a record contains only the bytes of the reply, and the rest is read from the
 * preceding record: 55 bytes instead of 161. That is less memory to write, and this memory is not in any
 * cache.
 */

/** An event without the fields that the stream adds. */
type New<Event> = Omit<Event, 'seq' | 'line' | 'time'>;

/** The code of a plain reply (see above). */
const PLAIN = 1;
const NOT_PLAIN = 0;

/** The code for a reply that has none of the `REFUSALS`. */
const NOT_REFUSED = 0xff;

/** Maximum number of bytes in a reply, other than those of fixed size. */
export function sizeOfReply(event: New<ReplyEvent>): number {
  const { requestAdu, plan, report, acted } = event;
  let size = sizeOfClient(event) + requestAdu.length + sizeOfPlan(plan, report);
  for (const { rule, kind, notAchieved = '' } of acted) {
    size += sizeOfText(rule) + sizeOfText(kind) + sizeOfText(notAchieved);
  }
  return size;
}

/**
 * Writes the record of a reply, starting after its time.
 * @param seq the sequence number of the event
 * @param before the event whose record directly precedes this one
 */
export function writeReply(
  w: Writer,
  event: New<ReplyEvent>,
  seq: number,
  before: NewEvent | undefined,
): void {
  const plain = plainReplyBytes(event, seq, before);
  if (plain !== undefined) {
    w.byte(PLAIN);
    w.bytes(plain);
    return;
  }
  w.byte(NOT_PLAIN);
  writeClient(w, event);
  writeFraming(w, event.framing);
  w.number(event.request);
  w.number(event.requestedAt);
  w.bytes(event.requestAdu);
  writePlan(w, event.plan, event.report);
  writeActed(w, event.acted);
  w.word(event.omittedFaults);
  const { refused } = event;
  w.byte(refused === undefined ? NOT_REFUSED : REFUSALS.indexOf(refused.why));
  if (refused === undefined) return;
  // The address may be one more than the last valid address.
  w.long(refused.address);
  w.word(refused.quantity);
}

/** The fields of a reply that come before these bytes in its record. */
type Head = Pick<ReplyEvent, 'seq' | 'line' | 'time' | 'at' | 'unitId' | 'functionCode'>;

/** @param before reads the event whose record directly precedes this one, from the same reader */
export function readReply(r: Reader, head: Head, before: () => TrafficEvent): ReplyEvent {
  const { seq, line, time, at, unitId, functionCode } = head;
  const sent = r.byte() === PLAIN ? r.bytes() : undefined;
  const asked = sent ? askedBy(before() as EventOf<'request'>) : readAsked(r);
  const { client, clientId, host, framing, request, requestAdu, requestedAt } = asked;
  const { plan, report } = sent ? sentAtOnce(sent, requestedAt, at) : readPlan(r);
  return {
    kind: 'reply',
    seq,
    line,
    time,
    at,
    client,
    clientId,
    host,
    framing,
    request,
    requestAdu,
    requestedAt,
    unitId,
    functionCode,
    plan,
    report,
    acted: sent ? [] : readActed(r),
    omittedFaults: sent ? 0 : r.word(),
    refused: sent ? undefined : readRefused(r),
  };
}

type ReplyOrigin = Pick<
  ReplyEvent,
  'client' | 'clientId' | 'host' | 'framing' | 'request' | 'requestAdu' | 'requestedAt'
>;

function readAsked(r: Reader): ReplyOrigin {
  const { client, clientId, host } = readClient(r);
  const framing = readFraming(r);
  const [request, requestedAt] = [r.number() ?? 0, r.number() ?? 0];
  return { client, clientId, host, framing, request, requestedAt, requestAdu: r.bytes() };
}

function askedBy({ client, clientId, host, framing, seq, bytes, at }: EventOf<'request'>): ReplyOrigin {
  return { client, clientId, host, framing, request: seq, requestedAt: at, requestAdu: bytes };
}

function sentAtOnce(bytes: Uint8Array, requestedAt: number, at: number): ReturnType<typeof readPlan> {
  const steps = [achieved(requestedAt, at, at, undefined)];
  return { plan: plainReply(bytes), report: { steps, ended: 'complete' } };
}

/**
 * The bytes of a plain reply; undefined if `event` is not one.
 * @param seq the sequence number of `event`
 * @param before the event whose record directly precedes it
 */
function plainReplyBytes(
  event: New<ReplyEvent>,
  seq: number,
  before: NewEvent | undefined,
): Uint8Array | undefined {
  if (before?.kind !== 'request' || !answers(event, seq, before)) return undefined;
  const { plan, report, acted, omittedFaults } = event;
  if (plan.kind !== 'send' || plan.early || plan.steps.length !== 1) return undefined;
  if (report.ended !== 'complete' || acted.length > 0 || omittedFaults > 0) return undefined;
  if (event.refused !== undefined) return undefined;
  const step = plan.steps[0];
  if (step?.kind !== 'bytes' || step.continues || step.waitMs !== 0) return undefined;
  return isAchievedAtOnce(event) ? step.bytes : undefined;
}

function answers(event: New<ReplyEvent>, seq: number, before: New<FrameEvent>): boolean {
  return (
    event.request === seq - 1 &&
    event.requestAdu === before.bytes &&
    event.requestedAt === before.at &&
    event.framing === before.framing &&
    event.clientId === before.clientId &&
    event.client === before.client &&
    event.host === before.host &&
    event.unitId === before.unitId &&
    event.functionCode === before.functionCode
  );
}

function isAchievedAtOnce({ at, requestedAt, report }: New<ReplyEvent>): boolean {
  const step = report.steps[0];
  return (
    step?.outcome === 'achieved' &&
    step.plannedAt === requestedAt &&
    step.achievedAt === at &&
    step.endedAt === at &&
    step.uncertainty === undefined &&
    step.reason === undefined
  );
}

/** The ends of a plan. The code of an end is its index in this list. */
const ENDS = ['complete', 'superseded', 'disconnected'] as const satisfies readonly PlayReport['ended'][];

const SILENCE = 0;
const REPLY = 1;
const EARLY_REPLY = 2;

/** The code for an achieved step without a reason, as nearly all steps are. */
const ACHIEVED = 1;
const NOT_ACHIEVED = 0;

/** Maximum number of bytes in a step with its report, other than its bytes and its reason. */
const STEP_SIZE = 64;

/** Maximum number of bytes for `writePlan`. */
function sizeOfPlan(plan: ReplyPlan, report: PlayReport): number {
  if (plan.kind === 'silence') return sizeOfText(plan.reason);
  let size = 0;
  for (const step of plan.steps) size += STEP_SIZE + (step.kind === 'bytes' ? step.bytes.length : 0);
  for (const { reason } of report.steps) if (reason !== undefined) size += sizeOfText(reason);
  return size;
}

function writePlan(w: Writer, plan: ReplyPlan, report: PlayReport): void {
  w.byte(ENDS.indexOf(report.ended));
  if (plan.kind === 'silence') {
    w.byte(SILENCE);
    w.text(plan.reason);
    return;
  }
  w.byte(plan.early ? EARLY_REPLY : REPLY);
  w.long(plan.steps.length);
  for (let i = 0; i < plan.steps.length; i++) {
    writeStep(w, plan.steps[i] as Step);
    writeReport(w, report.steps[i] as StepReport);
  }
}

function readPlan(r: Reader): { plan: ReplyPlan; report: PlayReport } {
  const ended = itemAt(ENDS, r.byte());
  const code = r.byte();
  if (code === SILENCE) return { plan: { kind: 'silence', reason: r.text() }, report: { steps: [], ended } };
  const steps: Step[] = [];
  const reports: StepReport[] = [];
  for (let left = r.long(); left > 0; left--) {
    steps.push(readStep(r));
    reports.push(readReport(r));
  }
  return { plan: { kind: 'send', early: code === EARLY_REPLY, steps }, report: { steps: reports, ended } };
}

const BYTES = 0;
const CONTINUED_BYTES = 1;
const BREAK = 2;
const END = 3;
const RESET = 4;

function writeStep(w: Writer, step: Step): void {
  switch (step.kind) {
    case 'bytes':
      w.byte(step.continues ? CONTINUED_BYTES : BYTES);
      w.number(step.waitMs);
      w.bytes(step.bytes);
      return;
    case 'break':
      w.byte(BREAK);
      w.number(step.waitMs);
      w.number(step.ms);
      return;
    case 'close':
      w.byte(step.how === 'end' ? END : RESET);
      w.number(step.waitMs);
  }
}

function readStep(r: Reader): Step {
  const code = r.byte();
  const waitMs = r.number() ?? 0;
  switch (code) {
    case BYTES:
    case CONTINUED_BYTES:
      return { kind: 'bytes', waitMs, continues: code === CONTINUED_BYTES, bytes: r.bytes() };
    case BREAK:
      return { kind: 'break', waitMs, ms: r.number() ?? 0 };
    default:
      return { kind: 'close', waitMs, how: code === END ? 'end' : 'reset' };
  }
}

function writeReport(
  w: Writer,
  { plannedAt, achievedAt, endedAt, uncertainty, outcome, reason }: StepReport,
): void {
  w.byte(outcome === 'achieved' ? ACHIEVED : NOT_ACHIEVED);
  w.number(plannedAt);
  w.number(achievedAt);
  w.number(endedAt);
  w.number(uncertainty);
  if (outcome === 'not achieved') w.text(reason ?? '');
}

function readReport(r: Reader): StepReport {
  const isAchieved = r.byte() === ACHIEVED;
  const [plannedAt, achievedAt, endedAt] = [r.number() ?? 0, r.number() ?? 0, r.number() ?? 0];
  const uncertainty = r.number();
  if (isAchieved) return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'achieved' };
  const reason = r.text();
  return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'not achieved', ...(reason && { reason }) };
}

function writeActed(w: Writer, acted: readonly ActedFault[]): void {
  w.word(acted.length);
  for (const { rule, kind, notAchieved } of acted) {
    w.text(rule);
    w.text(kind);
    w.text(notAchieved ?? '');
  }
}

function readActed(r: Reader): ActedFault[] {
  const acted: ActedFault[] = [];
  for (let left = r.word(); left > 0; left--) {
    const [rule, kind, notAchieved] = [r.text(), r.text(), r.text()];
    acted.push({ rule, kind, ...(notAchieved && { notAchieved }) });
  }
  return acted;
}

function readRefused(r: Reader): ReplyEvent['refused'] {
  const why = r.byte();
  return why === NOT_REFUSED
    ? undefined
    : { address: r.long(), quantity: r.word(), why: itemAt(REFUSALS, why) };
}
