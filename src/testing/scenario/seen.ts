import type { Device } from '../../device/device.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { type AddressRange, addressRanges } from '../../modbus/protocol/pdu.js';
import { knownValues, textWithValues, valuesByTable } from '../../simulator/commands/shown-values.js';
import { GOOD } from '../../simulator/filter/filter.js';
import { decodeEvent, type ReadEvent } from '../../simulator/traffic/decode.js';
import { type Message, requestMessage } from '../../simulator/traffic/decode-request.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../simulator/traffic/event.js';
import { durationText } from '../report/words.js';
import { isRequest, pduOf } from '../tested-line.js';

/** Finds the device that answers for a unit identifier on a line. */
export type DeviceAt = (line: string, unitId: number, host: string | undefined) => Device | undefined;

/** Describes an event in words, with the values of registers: `unit 1 read holding registers 10–11: float32 230.1`. */
export function eventText(event: TrafficEvent, read: ReadEvent, deviceAt: DeviceAt): string {
  const { message, text } = decodeEvent(event, read);
  const device = 'unitId' in event ? deviceAt(event.line, event.unitId, event.host) : undefined;
  return message ? withValues(device, { ...message, text }) : text;
}

/** Describes a request to a unit in the words of `eventText`. */
function requestText(unitId: number, pdu: Uint8Array, device: Device | undefined): string {
  const message = requestMessage(pdu);
  return withValues(device, { ...message, text: `unit ${unitId} ${message.text}` });
}

/**
 * Adds the values of the registers in a message. They are looked up each time, because a step or REST may
 * have changed the device.
 */
function withValues(device: Device | undefined, message: Message): string {
  const { functionCode, values, address = 0, quantity = 0, text } = message;
  const table = functionOf(functionCode)?.table;
  if (!values || !table) return text;
  const known = device && valuesByTable(knownValues(device, { table, address, quantity })).get(table);
  return firstValues(known ? textWithValues(message, known) : text, values.length);
}

/** Maximum number of values of a frame in a message; the report shows all. */
const MOST_VALUES = 3;

/** Keeps only the first values, which follow the first colon. */
function firstValues(text: string, count: number): string {
  const end = text.indexOf(': ');
  if (count <= MOST_VALUES || end < 0) return text;
  const values = text.slice(end + 2);
  const between = values.includes(', ') ? ', ' : ' ';
  const shown = values.split(between);
  if (shown.length <= MOST_VALUES) return text;
  return `${text.slice(0, end)}: ${shown.slice(0, MOST_VALUES).join(between)} … ${shown.length - MOST_VALUES} more`;
}

/** A request or a reply in the form that expectations use. */
export interface Seen {
  readonly event: FrameEvent | ReplyEvent;
  /** When it came, in ms of `performance.now()`. */
  readonly at: number;
  readonly line: string;
  readonly unitId: number;
  /** Name of the device that the request is for; empty if there is none. */
  readonly device: string;
  readonly functionCode: number;
  /** The PDU of the request, even if the event is a reply. */
  readonly pdu: Uint8Array;
  readonly ranges: readonly AddressRange[];
  /** Returns the request in words, even if the event is a reply; only called for messages. */
  readonly text: () => string;
  /**
   * The reply; absent for a request. `exception` is `GOOD` for a reply that is not an exception, and
   * undefined for silence and damage.
   */
  readonly reply?: { readonly exception: number | undefined };
}

/**
 * A key that is equal for all requests with the same content on a line. Their transaction identifiers and
 * connections may differ.
 */
export function pollOf({ line, unitId, pdu }: Seen): string {
  return `${unitId} ${Buffer.from(pdu).toString('hex')} ${line}`;
}

/** Converts an event to a request or a reply; undefined for any other event. */
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

/** The exception code that was sent, or `GOOD` for another valid response. Undefined if no valid response was sent. */
function exceptionIn(reply: ReplyEvent): number | undefined {
  const pdu = pduOf(reply);
  if (pdu === undefined) return undefined;
  return (pdu[0] as number) & EXCEPTION_FLAG ? pdu[1] : GOOD;
}

/** Maximum number of frames kept per step: the first and last matching ones, and the newest of all. */
const MOST_MATCHED = 40;
const MOST_RECENT = 16;
/** Maximum number of events named in a message; the report shows the others. */
const MOST_EVENTS = 4;

export type SayEvent = (event: TrafficEvent) => string;

/** Collects the frames that show how a step ended. */
export class Evidence {
  readonly #startedAt: number;
  readonly #say: SayEvent;
  readonly #recent: TrafficEvent[] = [];
  readonly #matched = new Map<number, TrafficEvent>();

  /** @param startedAt when the step began, in ms of `performance.now()` */
  constructor(startedAt: number, say: SayEvent) {
    this.#startedAt = startedAt;
    this.#say = say;
  }

  note(event: TrafficEvent): void {
    this.#recent.push(event);
    if (this.#recent.length > MOST_RECENT) this.#recent.shift();
  }

  /** Records a request or a reply that matches. */
  count({ event }: { readonly event: TrafficEvent }): void {
    if (this.#matched.size >= MOST_MATCHED) {
      // The first half is kept. The oldest of the second half is dropped.
      const [oldest] = [...this.#matched.keys()].slice(MOST_MATCHED / 2);
      if (oldest !== undefined) this.#matched.delete(oldest);
    }
    this.#matched.set(event.seq, event);
  }

  /** Records the reply to a matching request, even after the step. */
  answer(event: TrafficEvent): void {
    if (event.kind === 'reply' && this.#matched.has(event.request)) this.#matched.set(event.seq, event);
  }

  /**
   * The frames in order.
   * @param all also include the newest frames that did not match, for a step that has not passed
   */
  frames(all: boolean): TrafficEvent[] {
    const frames = new Map(this.#matched);
    if (all) for (const event of this.#recent) frames.set(event.seq, event);
    return [...frames.values()].sort((a, b) => a.seq - b.seq);
  }

  /**
   * Names the newest events, for the message of a step that has not passed: `+213 ms  frame 12: unit 1 read
   * coils 0–7`, with times from the start of the step.
   * @param decides the decisive frame, which is included
   */
  newest(decides: number | undefined): string[] {
    if (this.#recent.length === 0) return ['no request came at all'];
    const newest = this.#recent.slice(-MOST_EVENTS);
    const first = this.#matched.get(decides ?? -1) ?? this.#recent.find(({ seq }) => seq === decides);
    const events =
      first && !newest.includes(first) ? [...newest, first].sort((a, b) => a.seq - b.seq) : newest;
    return events.map((event) => {
      const after = durationText(Math.max(0, event.at - this.#startedAt));
      return `+${after} ${this.#say(event)} (frame ${event.seq}${event.seq === decides ? ', decides' : ''})`;
    });
  }
}
