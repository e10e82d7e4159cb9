import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { type AddressRange, addressRanges } from '../../modbus/protocol/pdu.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../simulator/traffic/event.js';
import { isRequest, pduOf } from '../line-watch.js';
import { type DeviceAt, requestText } from './event-text.js';

/** Stands for a good reply where an exception code could stand; a device may send 0 as a code. */
export const GOOD = -1;

/** A request, or the reply to one, as expectations look at it. */
export interface Seen {
  readonly event: FrameEvent | ReplyEvent;
  /** When it came, in ms of `performance.now()`. */
  readonly at: number;
  readonly line: string;
  readonly unitId: number;
  /** Name of the device that the request is for; empty when there is none. */
  readonly device: string;
  readonly functionCode: number;
  /** The PDU of the request, also when the event is a reply. */
  readonly pdu: Uint8Array;
  readonly ranges: readonly AddressRange[];
  /** The request in words, also when the event is a reply; made for messages only. */
  readonly text: () => string;
  /**
   * The reply; absent for a request. `exception` is `GOOD` for a reply that is no exception, and undefined
   * for silence and damage.
   */
  readonly reply?: { readonly exception: number | undefined };
}

/**
 * A text that is the same for all requests that ask the same on a line; their transaction identifiers and
 * connections may differ.
 */
export function questionOf({ line, unitId, pdu }: Seen): string {
  return `${unitId} ${Buffer.from(pdu).toString('hex')} ${line}`;
}

/** Looks at an event as a request or a reply; undefined for any other event. */
export function seenOf(event: TrafficEvent, deviceAt: DeviceAt): Seen | undefined {
  const adu = requestAduOf(event);
  const pdu = adu?.event.framing.fields(adu.bytes)?.pdu;
  if (adu === undefined || pdu === undefined) return undefined;
  const { line, at, unitId, host } = adu.event;
  const device = deviceAt(line, unitId, host);
  return {
    event: adu.event,
    at,
    line,
    unitId,
    device: device?.name ?? '',
    functionCode: pdu[0] as number,
    pdu,
    ranges: addressRanges(pdu),
    text: () => requestText(unitId, pdu, device),
    ...(adu.event.kind === 'reply' && { reply: { exception: exceptionIn(adu.event) } }),
  };
}

function requestAduOf(event: TrafficEvent) {
  if (event.kind === 'reply') return { event, bytes: event.requestAdu };
  return isRequest(event) ? { event, bytes: event.bytes } : undefined;
}

/**
 * The exception code that was sent, `GOOD` for another valid response. Undefined when no valid response was
 * sent.
 */
function exceptionIn(reply: ReplyEvent): number | undefined {
  const pdu = pduOf(reply);
  if (pdu === undefined) return undefined;
  return (pdu[0] as number) & EXCEPTION_FLAG ? pdu[1] : GOOD;
}
