import { z } from 'zod';
import { failure, type Result, success } from '../../common/result.js';
import { pathText } from '../../common/schema/problem.js';
import { counted } from '../../common/words.js';
import { type TrafficView, trafficViewSchema } from '../../simulator/traffic/view-schema.js';
import { isCapture } from '../learn/capture-file.js';
import { capturedTraffic, lastOf, type ShownTraffic } from './captured-traffic.js';

/** Reads the traffic in a file. @returns it, or what is wrong and where, as a sentence */
export function shownTraffic(file: Uint8Array): Result<ShownTraffic> {
  if (isCapture(file)) return capturedTraffic(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    return failure('expected a capture (pcapng, pcap) or traffic as NDJSON, got neither');
  }
  if (/^\s*<(!doctype|html)/i.test(text)) return failure('is an HTML page; open it in a browser');
  return recordedTraffic(text);
}

const finite = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** An event as REST writes it, with the parts checked that a page computes with. */
const event = trafficViewSchema.extend({
  seq: z.int().min(1),
  monotonicUs: finite,
  startedUs: finite.optional(),
  time: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'expected an ISO 8601 time'),
  bytes: z
    .string()
    .regex(/^([0-9a-f]{2}( |$))*$/, 'expected bytes in hexadecimal')
    .optional(),
});
const gap = z.object({ kind: z.literal('left out'), count: z.int().min(1) });

/** Reads events as `GET /api/v1/traffic?format=ndjson` and `traffic.file` write them. */
function recordedTraffic(text: string): Result<ShownTraffic> {
  const events: TrafficView[] = [];
  let [missing, earlier] = [0, 0];
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parsed(line);
    // A program that was killed leaves half a line behind.
    if (value === undefined && i === lines.length - 1 && events.length > 0) break;
    if (value === undefined) return failure(`line ${i + 1}: expected one JSON event per line`);
    const left = gap.safeParse(value);
    if (left.success) missing += left.data.count;
    if (left.success) continue;
    const { data, error } = event.safeParse(value);
    if (!data) {
      const { path = [], message = '' } = error?.issues[0] ?? {};
      const place = path.length > 0 ? ` ${pathText(path as (string | number)[])}:` : '';
      return failure(`line ${i + 1}:${place} ${message.replace('Invalid input: ', '')}`);
    }
    if (data.seq <= (events.at(-1)?.seq ?? 0)) earlier += events.splice(0).length;
    events.push(data);
  }
  if (events.length === 0) return failure('has no events');
  const shown = lastOf(events, 'events');
  return success({
    events: shown.list,
    notes: [
      ...shown.notes,
      ...(earlier > 0 ? [`${counted(earlier, 'event')} of an earlier run are left out`] : []),
      ...(missing > 0 ? [`${counted(missing, 'event')} are missing from the file`] : []),
    ],
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
