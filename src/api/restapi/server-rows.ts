import { z } from 'zod';
import type { LineView } from '../../control/schemas/line.js';
import { kindOf } from './server-change.js';

/** A line as REST clients see it; what a line of its kind has not is null. Times are in ms, the uptime in seconds. */
export const serverRowSchema = z.object({
  line: z.string(),
  comm: z.enum(['serial', 'tcp', 'udp', 'tls']),
  framer: z.enum(['socket', 'rtu', 'ascii']),
  state: z.enum(['open', 'waiting', 'stopped', 'failed']),
  error: z.string().describe('Why it is not open.'),
  place: z.string().describe('Where clients find it: the real port where any free one was asked for.'),
  host: z.string().nullable(),
  port: z.union([z.string(), z.number()]),
  baudrate: z.number().nullable(),
  bytesize: z.number().nullable(),
  parity: z.string().nullable(),
  stopbits: z.number().nullable(),
  turnaround: z
    .union([z.string(), z.number()])
    .nullable()
    .describe('As it is set: `t3.5`, `eager`, or so many ms more than t3.5.'),
  t1_5: z.number().nullable(),
  t3_5: z.number().nullable(),
  gap: z.number().nullable(),
  clients: z.number().nullable(),
  uptime: z.number().nullable(),
  units: z.record(z.string(), z.string()).describe('Unit identifiers with the names of their devices.'),
  count_requests: z.number(),
  count_broadcasts: z.number(),
  count_dropped: z.number(),
  count_replies: z.number(),
  count_duplicates: z.number(),
  count_echoes: z.number(),
  count_collisions: z.number(),
  count_foreign_frames: z.number(),
  count_damaged_frames: z.number(),
  count_noise_bytes: z.number(),
  count_damaged_characters: z.number(),
  count_rejected: z.number(),
  count_unasked: z.number(),
});

export type ServerRow = z.infer<typeof serverRowSchema>;

const PARITY_LETTERS: Readonly<Record<string, string>> = { none: 'N', even: 'E', odd: 'O' };

export function serverRow(line: LineView): ServerRow {
  const { state, reason, place, clients, uptime, times, units } = line;
  const { framing } = line.settings as { framing: ServerRow['framer'] };
  return {
    line: line.name,
    comm: kindOf(line),
    framer: framing,
    state,
    error: reason ?? '',
    place,
    ...settingsOf(line),
    t1_5: times?.t15 ?? null,
    t3_5: times?.t35 ?? null,
    gap: times?.gap ?? null,
    clients: clients ?? null,
    uptime,
    units,
    ...countsOf(line),
  };
}

/** As the native file has them. */
interface NativeSettings {
  readonly serial?: {
    readonly path: string;
    readonly baudRate: number;
    readonly dataBits: number;
    readonly parity: string;
    readonly stopBits: number;
  };
  readonly timing?: { readonly turnaround: string | number };
}

function settingsOf(line: LineView) {
  const { serial, timing } = line.settings as NativeSettings;
  if (!serial) {
    const { host, port } = line.settings[kindOf(line)] as { host: string; port: number };
    return { host, port, baudrate: null, bytesize: null, parity: null, stopbits: null, turnaround: null };
  }
  const { path, baudRate, dataBits, parity, stopBits } = serial;
  return {
    host: null,
    port: path,
    baudrate: baudRate,
    bytesize: dataBits,
    parity: PARITY_LETTERS[parity] ?? null,
    stopbits: stopBits,
    turnaround: timing?.turnaround ?? null,
  };
}

/** The counters, named in the manner of the register rows. */
function countsOf({ counters }: LineView) {
  return {
    count_requests: counters.requests,
    count_broadcasts: counters.broadcasts,
    count_dropped: counters.dropped,
    count_replies: counters.replies,
    count_duplicates: counters.duplicates,
    count_echoes: counters.echoes,
    count_collisions: counters.collisions,
    count_foreign_frames: counters.foreignFrames,
    count_damaged_frames: counters.damagedFrames,
    count_noise_bytes: counters.noiseBytes,
    count_damaged_characters: counters.damagedCharacters,
    count_rejected: counters.rejected,
    count_unasked: counters.unasked,
  };
}
