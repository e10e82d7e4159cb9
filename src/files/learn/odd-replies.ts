import { hex } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';

/** Describes an odd reply as fault rules do, and the requests that a rule applies to. */

const LAST_ADDRESS = 0xffff;

/** Faults such as `{exception: 2}`, `{silence: true}`, `{transaction: 'swapped'}`, `{junk: '00 01'}`. */
export type Faults = readonly Readonly<Record<string, unknown>>[];

/** The requests that a rule or a step of a scenario applies to, without the unit. */
export interface RequestCondition {
  readonly function: number;
  readonly address?: readonly [first: number, last: number];
  readonly quantity?: number;
}

/** The condition for a request; undefined for function 0, which no rule can name. */
export function conditionOf(pdu: Uint8Array): RequestCondition | undefined {
  const [code = 0] = pdu;
  const [range] = addressRanges(pdu);
  if (code === 0) return undefined;
  if (!range) return { function: code };
  if (range.quantity === 0) return { function: code, quantity: 0 };
  const { address, quantity } = range;
  return { function: code, address: [address, Math.min(address + quantity - 1, LAST_ADDRESS)], quantity };
}

/**
 * Reduces conditions to the addresses that no other condition has, as far as there are such: a rule acts on
 * every request that touches one of its addresses.
 */
export function apart(all: readonly RequestCondition[]): Map<RequestCondition, RequestCondition> {
  const first = ({ address: [start] = [0, 0] }: RequestCondition) => start;
  const kind = (each: RequestCondition) => 0x10000 * each.function + (each.quantity ?? 0);
  const sorted = all.toSorted((a, b) => kind(a) - kind(b) || first(a) - first(b));
  const narrowed = sorted.map((each, i): [RequestCondition, RequestCondition] => {
    const { address, quantity = 1 } = each;
    const [before, behind] = [sorted[i - 1], sorted[i + 1]];
    if (!address) return [each, each];
    const [start, end] = address;
    const from = before && kind(before) === kind(each) ? Math.max(start, first(before) + quantity) : start;
    const to = behind && kind(behind) === kind(each) ? Math.min(end, first(behind) - 1) : end;
    return [each, from > to ? each : { ...each, address: [from, to] }];
  });
  return new Map(narrowed);
}

/**
 * The faults that make a reply the one that was seen.
 * @param reply the one frame that came; undefined for other bytes
 * @param isPlain true when the registers give its PDU by themselves
 */
export function oddities(
  request: AduContent,
  bytes: Uint8Array,
  reply: AduContent | undefined,
  isPlain: boolean,
  framing: Framing,
): Faults {
  if (bytes.length === 0) return [{ silence: true }];
  if (!reply) return [{ junk: hex(bytes) }];
  const faults: Readonly<Record<string, unknown>>[] = [];
  const [code = 0, exception = 0] = reply.pdu;
  const isException = reply.pdu.length === 2 && code === ((request.pdu[0] ?? 0) | EXCEPTION_FLAG);
  if (!isPlain) faults.push(isException && exception > 0 ? { exception } : { pdu: hex(reply.pdu) });
  if (reply.unitId !== request.unitId) faults.push({ unit: reply.unitId });
  if (framing === SOCKET && reply.transactionId !== request.transactionId)
    faults.push({ transaction: wrongTransaction(request.transactionId, reply.transactionId) });
  return faults;
}

/** True when faults keep the request from the device. */
export function prevents(faults: Faults): boolean {
  return faults.some((fault) => 'silence' in fault || 'exception' in fault);
}

function wrongTransaction(asked: number, got: number): number | string {
  if (got === (((asked & 0xff) << 8) | (asked >> 8))) return 'swapped';
  if (got === 0) return 0;
  const difference = got - asked;
  return difference > 0 ? `+${difference}` : String(difference);
}
