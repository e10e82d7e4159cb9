import { z } from 'zod';
import type { LineDefinition } from '../../config/configuration.js';
import type { Line } from '../../simulator/line.js';
import { lineStatus } from '../../simulator/line-status.js';
import { thousandths } from '../thousandths.js';

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
});

export type ServerRow = z.infer<typeof serverRowSchema>;

const PARITY_LETTERS = { none: 'N', even: 'E', odd: 'O' } as const;

export function serverRow(line: Line): ServerRow {
  const { definition } = line;
  const { state, reason, place, clients, uptime, times } = lineStatus(line);
  return {
    line: line.name,
    comm: definition.kind,
    framer: definition.framing,
    state,
    error: reason ?? '',
    place,
    ...settingsOf(definition),
    t1_5: times ? thousandths(times.t15) : null,
    t3_5: times ? thousandths(times.t35) : null,
    gap: times ? thousandths(times.gap) : null,
    clients: clients ?? null,
    uptime: uptime === undefined ? null : thousandths(uptime),
    units: Object.fromEntries(line.bus.units),
    ...countsOf(line),
  };
}

function settingsOf(definition: LineDefinition) {
  if (definition.kind !== 'serial') {
    const { host, port } = definition;
    return { host, port, baudrate: null, bytesize: null, parity: null, stopbits: null, turnaround: null };
  }
  const { path, baudRate, dataBits, parity, stopBits, timing } = definition;
  return {
    host: null,
    port: path,
    baudrate: baudRate,
    bytesize: dataBits,
    parity: PARITY_LETTERS[parity],
    stopbits: stopBits,
    turnaround: timing.turnaround,
  };
}

/** The counters, named in the manner of the register rows. */
function countsOf({ counters }: Line) {
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
  };
}
