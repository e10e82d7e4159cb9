import { failure, type Result, success } from '../common/result.js';
import type { Device } from '../device/device.js';
import { type PlayedRule, playRule } from '../device/faults/apply.js';
import { startWorkTime } from '../device/faults/budget.js';
import { matchesRequest, type RequestFacts } from '../device/faults/matching.js';
import type { FaultRule, NamedValue } from '../device/faults/rule.js';
import { predict } from '../device/read-write.js';
import { concatBytes, packBits, packWords } from '../modbus/protocol/bytes.js';
import { FunctionCode } from '../modbus/protocol/function-code.js';
import { functionOf } from '../modbus/protocol/function-table.js';
import { addressRanges } from '../modbus/protocol/pdu.js';
import { onIdleLine, type StepReport, sentBytes } from '../modbus/protocol/reply-plan.js';
import type { Line } from './line.js';
import { lineStatus } from './line-status.js';
import type { Simulator } from './simulator.js';
import type { FrameEvent, TrafficEvent } from './traffic/event.js';

/** How a rule would change the reply to a request. */
export interface FaultPreview extends PlayedRule {
  /** When each step would happen on an idle line, in ms since the end of the request. */
  readonly steps: readonly StepReport[];
  /** Times of a serial line, in ms; undefined for a socket. */
  readonly wire: { readonly characterTime: number; readonly t35: number } | undefined;
}

/**
 * Applies a rule to the reply to a request. Nothing is sent, executed or counted, and other rules do not act.
 * The preceding reply, which the fault `stale` sends, is assumed to be the same.
 */
export function previewFault(rule: FaultRule, like: PreviewRequest): FaultPreview {
  const { line, unitId, transactionId, pdu, reply } = like;
  const { times } = lineStatus(line);
  const { framing } = line.bus;
  const characterTime = times?.characterTime ?? 0;
  const played = playRule(
    rule,
    factsOf(like),
    reply,
    {
      unitId,
      transactionId,
      requestPdu: pdu,
      framing,
      characterTime,
      previousReply: reply,
      startTime: startWorkTime,
    },
    Math.random,
  );
  const steps = onIdleLine(played.plan, times?.turnaround ?? 0, characterTime);
  return { ...played, steps, wire: times && { characterTime, t35: times.t35 } };
}

/** A request to one of our units, either received or made up. */
export interface PreviewRequest {
  readonly line: Line;
  readonly device: Device;
  readonly unitId: number;
  readonly transactionId: number;
  readonly pdu: Uint8Array;
  /** The whole frame of the reply without any faults. */
  readonly reply: Uint8Array;
  /** The sequence number of the request in the traffic; undefined for a made-up request. */
  readonly seq?: number;
}

/** A made-up request. The first value of the simulator replaces anything absent. */
interface MadeUpRequest {
  readonly line?: string | undefined;
  readonly unit?: number | undefined;
  readonly function: number;
  readonly address: number;
  readonly quantity: number;
}

/** How many events to scan: after a request for its reply, and at the end of the traffic for a request. */
const MOST_SEARCHED = 256;

/**
 * The request that belongs to a traffic event, or why there is none.
 * @param seq the number of the request or of its reply
 */
export function likeEvent(simulator: Simulator, seq: number): Result<PreviewRequest> {
  const event = simulator.traffic.read(seq);
  if (!event) return failure(`event ${seq} is not kept; the newest is ${simulator.traffic.last}`);
  const adu = requestAdu(event);
  const line = simulator.lines.get(event.line);
  if (!adu) return failure(`event ${seq} is of kind ${event.kind}; expected a request, or the reply to one`);
  if (!line) return failure(`line ${event.line} no longer exists`);
  const content = adu.framing.decode(adu.bytes);
  if (!content) return failure(`event ${seq} is not a complete request`);
  const asked = complete({ ...content, line, host: adu.host }, keptReply(simulator, event));
  return !asked.ok ? asked : success({ ...asked.value, seq });
}

/**
 * The newest request that a rule applies to, among the newest events. If there is none, a request made from
 * the rule's conditions.
 */
export function likeRule(simulator: Simulator, rule: FaultRule): Result<PreviewRequest> {
  const { last } = simulator.traffic;
  for (let seq = last; seq > Math.max(0, last - MOST_SEARCHED); seq--) {
    const event = simulator.traffic.read(seq);
    if (event?.kind !== 'request' || !conditionsMet(simulator, rule, event)) continue;
    const like = likeEvent(simulator, seq);
    if (like.ok) return like;
  }
  const like = likeMadeUp(simulator, madeUpFor(simulator, rule));
  return !like.ok ? likeMadeUp(simulator, ANY_READ) : like;
}

const ANY_READ: MadeUpRequest = { function: 3, address: 0, quantity: 1 };

/** The facts about a request that rule conditions check. */
function factsOf({ line, device, unitId, pdu }: Omit<PreviewRequest, 'reply'>): RequestFacts {
  const ranges = addressRanges(pdu);
  return {
    line: line.bus.line,
    unitId,
    device: device.name,
    functionCode: pdu[0] as number,
    ranges,
    stored: device.stored,
  };
}

function conditionsMet({ lines }: Simulator, { when, values }: FaultRule, event: FrameEvent): boolean {
  const line = lines.get(event.line);
  const content = event.framing.decode(event.bytes);
  const device = content && line?.bus.deviceAt(content.unitId, event.host);
  if (!content || !line || !device) return false;
  return matchesRequest(when, values, factsOf({ ...content, line, device }));
}

/** The function that reads each table. */
const READS = { holding: 3, input: 4, coils: 1, discrete: 2 } as const;
const TABLES = Object.keys(READS) as (keyof typeof READS)[];

/**
 * A request that meets the conditions of a rule: it uses the first alternative of each condition, and a
 * defined register if the rule does not name an address.
 */
function madeUpFor({ lines }: Simulator, { when, values }: FaultRule): MadeUpRequest {
  const first = (wanted: unknown): unknown => (Array.isArray(wanted) ? first(wanted[0]) : wanted);
  const number = (wanted: unknown) =>
    wanted === undefined ? undefined : Number.parseInt(String(first(wanted)), 10);
  const line = lines.get(String(first(when.line))) ?? [...lines.values()][0];
  const unit = number(when.unit);
  const code = number(when.function);
  const device = line?.bus.deviceAt(unit ?? firstUnit(line));
  const value = values?.[0] ?? (device && firstDefined(device, code));
  return {
    line: line?.name,
    unit,
    function: code ?? (value ? READS[value.table] : ANY_READ.function),
    address: number(when.address) ?? value?.address ?? ANY_READ.address,
    quantity: number(when.quantity) ?? value?.quantity ?? ANY_READ.quantity,
  };
}

/** The tables that functions write. What clients can write is tried first. */
const WRITES: ReadonlyMap<number | undefined, (typeof TABLES)[number]> = new Map([
  [5, 'coils'],
  [15, 'coils'],
  [6, 'holding'],
  [16, 'holding'],
  [22, 'holding'],
  [23, 'holding'],
]);

/** The first register that a function reads or writes, or that any function reads; undefined if there is none. */
function firstDefined({ tables }: Device, code: number | undefined): FirstDefined | undefined {
  const written = WRITES.get(code);
  let readOnly: FirstDefined | undefined;
  for (const table of written ? [written] : TABLES) {
    const { image, base, size } = tables[table].window;
    const isMeant = written !== undefined || (code ?? READS[table]) === READS[table];
    for (let address = 0; address < size && isMeant; address++) {
      if (image.typeAt(base + address) === 'invalid') continue;
      const first = { table, address, quantity: 1 };
      if (!written || image.isWritable(base + address)) return first;
      readOnly ??= first;
    }
  }
  return readOnly;
}

type FirstDefined = Pick<NamedValue, 'table' | 'address' | 'quantity'>;

/** Makes up a request. Returns an error if no client could send it. */
export function likeMadeUp(simulator: Simulator, wanted: MadeUpRequest): Result<PreviewRequest> {
  const [first] = simulator.lines.keys();
  const line = simulator.lines.get(wanted.line ?? first ?? '');
  if (!line)
    return failure(`unknown line ${wanted.line}, expected one of ${[...simulator.lines.keys()].join(', ')}`);
  return complete({
    line,
    unitId: wanted.unit ?? firstUnit(line),
    transactionId: 1,
    pdu: madeUpPdu(wanted),
  });
}

function firstUnit({ definition }: Line): number {
  const listed = [...definition.units.keys()].find((unit) => unit !== '*');
  return typeof listed === 'number' ? listed : 1;
}

type RequestIdentity = Pick<PreviewRequest, 'line' | 'unitId' | 'transactionId' | 'pdu'> & {
  readonly host?: string | undefined;
};

function complete(asked: RequestIdentity, kept?: Uint8Array): Result<PreviewRequest> {
  const { host, ...request } = asked;
  const { line, unitId, transactionId, pdu } = request;
  const { definition } = line;
  if (definition.kind === 'serial' && definition.mode === 'monitor')
    return failure(`line ${line.name} only listens`);
  const { framing } = line.bus;
  const device = line.bus.deviceAt(unitId, host);
  if (unitId === 0 && framing.broadcasts) return failure('unit 0 is a broadcast, which has no reply');
  if (!device) return failure(`line ${line.name} has no unit ${unitId}`);
  const response = kept === undefined ? predict(device.servedTables, pdu) : undefined;
  const reply = kept ?? (response && framing.encode({ unitId, transactionId, pdu: response }));
  if (!reply)
    return failure(`no real reply to function ${pdu[0]} is kept; choose a request that was answered`);
  return success({ ...request, device, reply });
}

function requestAdu(event: TrafficEvent) {
  switch (event.kind) {
    case 'request':
    case 'dropped':
    case 'foreign request':
      return { bytes: event.bytes, framing: event.framing, host: event.host };
    case 'reply':
      return { bytes: event.requestAdu, framing: event.framing, host: event.host };
    default:
      return undefined;
  }
}

/** The correct reply to a request, if it is stored: a reply on which no fault acted. */
function keptReply({ traffic }: Simulator, event: TrafficEvent): Uint8Array | undefined {
  const request = event.kind === 'reply' ? event.request : event.seq;
  for (let seq = event.seq; seq < event.seq + MOST_SEARCHED && seq <= traffic.last; seq++) {
    const reply = traffic.read(seq);
    if (reply?.kind !== 'reply' || reply.request !== request) continue;
    const isTrue = reply.acted.length === 0 && reply.report.ended === 'complete';
    const sent = isTrue ? sentBytes(reply.plan, reply.report) : [];
    return sent.length > 0 ? concatBytes(...sent) : undefined;
  }
  return undefined;
}

function madeUpPdu({ function: code, address, quantity }: MadeUpRequest): Uint8Array {
  const head = (second: number) => concatBytes([code], packWords([address, second]));
  switch (code) {
    case FunctionCode.writeSingleCoil:
    case FunctionCode.writeSingleRegister:
      return head(0);
    case FunctionCode.writeMultipleCoils: {
      const data = packBits(new Array<boolean>(quantity).fill(false));
      return concatBytes(head(quantity), [data.length], data);
    }
    case FunctionCode.writeMultipleRegisters:
      return concatBytes(head(quantity), [2 * quantity], packWords(new Array<number>(quantity).fill(0)));
    default:
      return functionOf(code)?.ranges.length ? head(quantity) : Uint8Array.of(code);
  }
}
