import { z } from 'zod';
import { concatBytes, hex } from '../../../modbus/protocol/bytes.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { sentBytes } from '../../../modbus/protocol/reply-plan.js';
import { decodeEvent, requestPduOf } from '../../../simulator/traffic/decode.js';
import type { EventOf } from '../../../simulator/traffic/event.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import { wantedNewestFirst } from '../../../simulator/traffic/reading.js';
import type { MonitorRequest } from './call-request.js';
import { listFilter } from './fields.js';

/** A request or a response that was seen. */
export const callRowSchema = z.object({
  call: z.enum(['request', 'response']),
  time: z.string(),
  line: z.string(),
  unit: z.number(),
  fc: z.number(),
  address: z.number().nullable(),
  count: z.number().nullable(),
  data: z.string(),
});

type CallRow = z.infer<typeof callRowSchema>;

const MAX_ROWS = 1000;

/** Most bytes that a row shows; replies of 64 KiB are possible. */
const MAX_BYTES = 1024;

type CallEvent = EventOf<'request' | 'broadcast' | 'reply'>;

const CALLS = new Set(['request', 'broadcast', 'reply'] as const);

/** The calls that match a filter, the newest first. Each row is made when it is asked for. */
export function* callRows(
  stream: KeptEvents,
  filter: MonitorRequest,
  { after, until = stream.last }: { readonly after: number; readonly until?: number },
): Generator<CallRow> {
  let count = 0;
  const wanted = { kinds: CALLS, ...listFilter(filter) };
  for (const event of wantedNewestFirst(stream, wanted, { after, until })) {
    const row = event && rowOf(event as CallEvent, filter);
    if (row === undefined) continue;
    yield row;
    if (++count === MAX_ROWS) return;
  }
}

/** Looks up no other events, because each call is shown on its own. */
const NO_OTHERS = () => undefined;

/** The row of a request or a response; undefined for a response of which nothing was sent. */
function rowOf(event: CallEvent, filter: MonitorRequest): CallRow | undefined {
  const { line, time, unitId, functionCode } = event;
  const [asked] = addressRanges(requestPduOf(event, NO_OTHERS) ?? new Uint8Array(0));
  const range = { address: asked?.address ?? null, count: asked?.quantity ?? null };
  const common = { time: new Date(time).toISOString(), line, unit: unitId, fc: functionCode, ...range };
  if (event.kind !== 'reply')
    return { call: 'request', ...common, data: dataText(filter, event, event.bytes) };
  const sent = concatBytes(...sentBytes(event.plan, event.report));
  return sent.length === 0 ? undefined : { call: 'response', ...common, data: dataText(filter, event, sent) };
}

function hexText(bytes: Uint8Array): string {
  const more = bytes.length - MAX_BYTES;
  return more > 0 ? `${hex(bytes.subarray(0, MAX_BYTES))} … ${more} more` : hex(bytes);
}

function dataText({ show_hex, show_decode }: MonitorRequest, event: CallEvent, bytes: Uint8Array): string {
  const parts = [show_hex && hexText(bytes), show_decode && decodeEvent(event, NO_OTHERS).text];
  return parts.filter(Boolean).join('; ');
}
