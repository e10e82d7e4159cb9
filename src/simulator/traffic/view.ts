import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import { sentBytes } from '../../modbus/protocol/reply-plan.js';
import { decodeEvent, type ReadEvent } from './decode.js';
import { DIRECTION_OF, type ReplyEvent, type TrafficEvent } from './event.js';
import { MAX_SHOWN_BYTES, replyView } from './reply-view.js';
import type { TrafficView } from './view-schema.js';
import { isoTime, micros } from './words.js';

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
  view.bytes = hex(bytes.subarray(0, MAX_SHOWN_BYTES));
  if (bytes.length > MAX_SHOWN_BYTES) view.omittedBytes = bytes.length - MAX_SHOWN_BYTES;
}

function compacted(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
