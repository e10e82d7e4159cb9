import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges, hasQuantityOf } from '../../modbus/protocol/pdu.js';

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

/**
 * The condition for a request; undefined for malformed requests that no rule can tell from others. The
 * program refuses those by itself.
 */
export function conditionOf(pdu: Uint8Array): RequestCondition | undefined {
  const [code = 0] = pdu;
  const [range] = addressRanges(pdu);
  if (!range) return code === 0 ? undefined : { function: code };
  const { address, quantity } = range;
  if (quantity === 0) return undefined;
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

/** The one frame that came back; undefined when none came, or more than one. */
export function replyIn(replies: readonly Uint8Array[], framing: Framing): AduContent | undefined {
  const [first] = replies;
  return first && replies.length === 1 ? framing.decode(first) : undefined;
}

/** True when the registers of a device give this reply, apart from exceptions. */
export function answersTo(request: Uint8Array, reply: Uint8Array): boolean {
  const [code = 0] = request;
  if (reply[0] === (code | EXCEPTION_FLAG)) return reply.length === 2;
  if (reply[0] !== code) return false;
  const layout = functionOf(code);
  if (layout?.table === undefined) return false;
  if (layout.values !== undefined)
    return hasQuantityOf(reply, request) && reply.length === 2 + (reply[1] ?? 0);
  const { response } = layout;
  return reply.length === response.length && Buffer.compare(reply, request.subarray(0, reply.length)) === 0;
}

/** The faults that make a reply the one that was seen. */
export function oddities(request: AduContent, replies: readonly Uint8Array[], framing: Framing): Faults {
  if (replies.length === 0) return [{ silence: true }];
  const reply = replyIn(replies, framing);
  if (!reply) return [{ junk: hex(concatBytes(...replies)) }];
  const isUsual = answersTo(request.pdu, reply.pdu);
  const faults: Readonly<Record<string, unknown>>[] = [];
  const [code = 0, exception = 0] = reply.pdu;
  if (code & EXCEPTION_FLAG && isUsual) faults.push({ exception });
  else if (!isUsual) faults.push({ pdu: hex(reply.pdu) });
  if (reply.unitId !== request.unitId) faults.push({ unit: reply.unitId });
  if (framing === SOCKET && reply.transactionId !== request.transactionId)
    faults.push({ transaction: wrongTransaction(request.transactionId, reply.transactionId) });
  return faults;
}

function wrongTransaction(asked: number, got: number): number | string {
  if (got === (((asked & 0xff) << 8) | (asked >> 8))) return 'swapped';
  if (got === 0) return 0;
  const difference = got - asked;
  return difference > 0 ? `+${difference}` : String(difference);
}
