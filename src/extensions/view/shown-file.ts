import { z } from 'zod';
import { failure, type Result, success } from '../../common/result.js';
import { pathText } from '../../common/schema/problem.js';
import { counted } from '../../common/words.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import { deviceViewSchema } from '../../simulator/commands/schemas/device.js';
import { registerViewSchema } from '../../simulator/commands/schemas/value.js';
import { type TrafficView, trafficViewSchema } from '../../simulator/traffic/view-schema.js';
import { LAST_MOMENT } from '../../simulator/traffic/words.js';
import type { Recorded } from '../../testing/report/html.js';
import { verdict } from '../../testing/report/shapes.js';
import { KIND_NAMES } from '../../testing/run-kinds.js';
import { isCapture } from '../learn/capture-file.js';
import { capturedTraffic, lastOf, type ShownTraffic } from './captured-traffic.js';

/** Reads the content of a page from a file. @returns it, or what is wrong and where, as a sentence */
export function shownFile(file: Uint8Array): Result<Omit<Recorded, 'version' | 'title'>> {
  if (isCapture(file)) return ofTraffic(capturedTraffic(file));
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    return failure(
      'expected a report in HTML, a capture (pcapng, pcap) or traffic as NDJSON, got none of them',
    );
  }
  return /^\s*<(!doctype|html)/i.test(text) ? shownPage(text) : ofTraffic(recordedTraffic(text));
}

function ofTraffic(read: Result<ShownTraffic>): Result<Omit<Recorded, 'version' | 'title'>> {
  return read.ok ? success({ reports: [], ...read.value }) : read;
}

const finite = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** An event as written by REST. The fields that a page computes with are validated. */
const event = trafficViewSchema.extend({
  seq: z.int().min(1),
  monotonicUs: finite,
  startedUs: finite.optional(),
  time: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'expected an ISO 8601 time'),
  bytes: z
    .string()
    .max(1_000_000)
    .regex(/^([0-9a-f]{2}( |$))*$/, 'expected bytes in hexadecimal')
    .optional(),
});
const finding = z.looseObject({
  ...{ id: z.string(), title: z.string(), verdict, summary: z.string(), durationMs: finite },
  frames: z.array(event),
});
const named = { name: z.string() };
const addressIn = z
  .int()
  .min(0)
  .max(ADDRESS_SPACE - 1);
const ofTables = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);
const ofAddresses = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).optional();
/** A value at an earlier time, or how it differs: every field may be absent. */
const value = registerViewSchema.extend({ address: addressIn, registers: addressIn.min(1) }).partial();
/** The registers of a run, as far as a page computes with them. */
const registers = z.object({
  devices: z.array(
    z.object({
      device: deviceViewSchema.extend({
        tables: ofTables(addressIn.or(z.literal(ADDRESS_SPACE))),
        defined: ofTables(
          z.object({ registers: finite, ranges: z.array(z.tuple([addressIn, addressIn])) }),
        ).optional(),
      }),
      states: z
        .array(
          z.object({
            at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, 'expected a time with µs'),
            replaced: z.array(z.tuple([z.string(), addressIn, finite])).optional(),
            registers: ofTables(
              z.object({
                bits: z.union([z.literal(1), z.literal(16)]).optional(),
                words: ofAddresses(finite.nullable()),
                access: ofAddresses(z.string().max(1)),
                values: ofAddresses(value.nullable()),
              }),
            ),
          }),
        )
        .min(1),
    }),
  ),
  missing: z.array(z.string()),
});
/** A report. The fields that a page requires are validated. */
const report = z.looseObject({
  ...{ kind: z.enum(KIND_NAMES), name: z.string(), verdict, configuration: z.string() },
  ...{ startedAt: z.number().min(0).max(LAST_MOMENT), durationMs: finite, seed: finite },
  conclusions: z.array(z.string()),
  parameters: z.array(z.object({ ...named, value: z.string() })),
  findings: z.array(finding),
  registers: registers.optional(),
  versions: z.array(z.object({ ...named, version: z.string() })),
});
const recorded = z.object({
  reports: z.array(report),
  events: z.array(event).optional(),
  benches: z.array(z.object({ bench: z.string(), report, url: z.string().optional() })).optional(),
  notes: z.array(z.string()).default([]),
});

/** Reads the data that this program embedded in a page. */
function shownPage(text: string): Result<Omit<Recorded, 'version' | 'title'>> {
  const [, data] = /<script type="application\/json" id="recorded">([^<]*)</.exec(text) ?? [];
  if (data === undefined) return failure('is an HTML page, but not a report of this program');
  const read = recorded.safeParse(parsed(data));
  return read.success
    ? success(read.data as unknown as Omit<Recorded, 'version' | 'title'>)
    : failure(mistakeIn(read.error, 'its report'));
}

/** The first mistake, and where it is. */
function mistakeIn(error: z.ZodError, where: string): string {
  const { path = [], message = '' } = error.issues[0] ?? {};
  const place = path.length > 0 ? ` ${pathText(path as (string | number)[])}:` : '';
  return `${where}:${place} ${message.replace('Invalid input: ', '')}`;
}

const gap = z.object({ kind: z.literal('left out'), count: z.int().min(1) });

/** Reads events as written by `GET /api/v1/traffic?format=ndjson` and `traffic.file`. */
function recordedTraffic(text: string): Result<ShownTraffic> {
  const events: TrafficView[] = [];
  let [missing, earlier] = [0, 0];
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parsed(line);
    // A killed program leaves half a line behind.
    if (value === undefined && i === lines.length - 1 && events.length > 0) break;
    if (value === undefined) return failure(`line ${i + 1}: expected one JSON event per line`);
    const left = gap.safeParse(value);
    if (left.success) missing += left.data.count;
    if (left.success) continue;
    const { data, error } = event.safeParse(value);
    if (!data) return failure(mistakeIn(error, `line ${i + 1}`));
    if (data.seq <= (events.at(-1)?.seq ?? 0)) earlier += events.splice(0).length;
    events.push(data);
  }
  if (events.length === 0) return failure('has no events');
  const shown = lastOf(events, 'events');
  return success({
    events: shown.list,
    notes: [
      ...shown.notes,
      ...(earlier > 0 ? [`${counted(earlier, 'event')} of an earlier run left out`] : []),
      ...(missing > 0 ? [`${counted(missing, 'event')} missing from the file`] : []),
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
