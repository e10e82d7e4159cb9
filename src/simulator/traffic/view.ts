import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import { sentBytes } from '../../modbus/protocol/reply-plan.js';
import { decodeEvent, type ReadEvent } from './decode.js';
import type { WrittenValues } from './decode-request.js';
import { DIRECTION_OF, type Direction, type EventKind, type ReplyEvent, type TrafficEvent } from './event.js';
import { type ReplyView, replyView } from './reply-view.js';
import { isoTime, micros } from './time.js';

/** The most bytes of an event that are shown. Further bytes are counted. */
const MAX_BYTES = 1024;

/**
 * An event for output as JSON. Keys that an event of its kind does not have are absent; `null` means not
 * known.
 */
export interface TrafficView extends Partial<Omit<ReplyView, 'omittedBytes'>> {
  readonly seq: number;
  readonly line: string;
  readonly kind: EventKind;
  readonly direction: Direction;
  /**
   * The time in ISO 8601 with µs: for received bytes, that of the last byte; for a reply, that of the first.
   */
  readonly time: string;
  /** The same moment in µs since the program started. It never jumps, unlike the wall clock. */
  readonly monotonicUs: number;
  /** When the first of received bytes came, by the clock of `monotonicUs`. */
  readonly startedUs?: number;
  /** The silence on the line before the first byte, in µs. */
  readonly pauseUs?: number | null;
  /** The same silence in characters of the line; absent when characters take no time. */
  readonly pauseCharacters?: number | null;
  /** The bytes that were received or really sent, in hexadecimal. */
  readonly bytes?: string;
  /** The number of bytes that `bytes` does not show: those after the 1024th. */
  readonly omittedBytes?: number;
  readonly unit?: number;
  /** The function code without the exception flag. */
  readonly function?: number;
  readonly name?: string;
  readonly address?: number;
  readonly quantity?: number;
  readonly values?: readonly number[];
  readonly exception?: number;
  readonly text: string;
  /** The registers that were written, for a reply that confirms a write. */
  readonly written?: WrittenValues;
  /** The address of the client at the other end of a socket. */
  readonly client?: string;
  /** The address of this machine that the client connected to, on a line with several. */
  readonly host?: string;
  /** The number of the test that the event is about. */
  readonly test?: number;
  /** The sequence number of the request that a response answers. */
  readonly request?: number;
  /** When the last byte of the request of a reply was read, by the clock of `monotonicUs`. */
  readonly requestedUs?: number;
  /** The time from the last byte of the request to the first of the response, in µs. */
  readonly responseTimeUs?: number | null;
}

/** @param read finds the request of a response that passed between others */
export function trafficView(event: TrafficEvent, read: ReadEvent): TrafficView {
  const { seq, line, kind, at, time } = event;
  const { message, text, written } = decodeEvent(event, read);
  const view: Writable<TrafficView> = {
    seq,
    line,
    kind,
    direction: DIRECTION_OF[kind],
    time: isoTime(time),
    monotonicUs: micros(at),
    text,
  };
  if ('pause' in event) showReceived(view, event);
  if ('unitId' in event) view.unit = event.unitId;
  if (message) {
    const { functionCode, name, address, quantity, values, exception } = message;
    Object.assign(view, compacted({ function: functionCode, name, address, quantity, values, exception }));
  }
  if (written) view.written = written;
  if ('client' in event && event.client !== undefined) view.client = event.client;
  if ('host' in event && event.host !== undefined) view.host = event.host;
  if (event.kind === 'foreign response' && event.answers) {
    view.request = event.answers.seq;
    view.responseTimeUs = micros(event.answers.after);
  }
  if (event.kind === 'test') view.test = event.test;
  if (event.kind === 'reply') showReply(view, event);
  return view;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

function showReceived(
  view: Writable<TrafficView>,
  { bytes, startedAt, pause, characterTime }: Extract<TrafficEvent, { pause: unknown }>,
): void {
  view.startedUs = micros(startedAt);
  view.pauseUs = pause === undefined ? null : micros(pause);
  if (characterTime > 0) {
    view.pauseCharacters = pause === undefined ? null : Math.round((100 * pause) / characterTime) / 100;
  }
  showBytes(view, bytes);
}

function showReply(view: Writable<TrafficView>, event: ReplyEvent): void {
  const { request, requestedAt, at, plan, report } = event;
  const sent = sentBytes(plan, report);
  view.request = request;
  view.requestedUs = micros(requestedAt);
  view.responseTimeUs = sent.length > 0 ? micros(at - requestedAt) : null;
  showBytes(view, concatBytes(...sent));
  const { omittedBytes: _, ...reply } = replyView(event);
  Object.assign(view, reply);
}

function showBytes(view: Writable<TrafficView>, bytes: Uint8Array): void {
  view.bytes = hex(bytes.subarray(0, MAX_BYTES));
  if (bytes.length > MAX_BYTES) view.omittedBytes = bytes.length - MAX_BYTES;
}

function compacted(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
