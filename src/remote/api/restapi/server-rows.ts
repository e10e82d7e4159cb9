import { z } from 'zod';
import type { LineView } from '../../../simulator/commands/schemas/line.js';
import { COUNTERS, type LineCounters } from '../../../simulator/traffic/counters.js';
import { snakeCase } from '../metrics/family.js';
import { flatSettings, kindOf } from './server-change.js';

/** The counters that REST clients know, in their order. */
const { unasked: _, ...others } = COUNTERS;
const COUNTED = [...Object.keys(others), 'unasked'] as (keyof LineCounters)[];

/** The name of a counter in the style of the register rows. */
function countName(name: string): string {
  return `count_${snakeCase(name)}`;
}

/**
 * A line as REST clients see it. Fields that a line of its kind does not have are null. Times are in ms, the
 * uptime in s.
 */
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
  ...Object.fromEntries(COUNTED.map((name) => [countName(name), z.number()])),
});

type ServerRow = z.infer<typeof serverRowSchema>;

const PARITY_LETTERS: Readonly<Record<string, string>> = { none: 'N', even: 'E', odd: 'O' };

export function serverRow(line: LineView): ServerRow {
  const { name, state, reason, place, clients, uptime, times, units, counters } = line;
  const set = flatSettings(line);
  return {
    line: name,
    comm: kindOf(line),
    framer: set('framer') as ServerRow['framer'],
    state,
    error: reason ?? '',
    place,
    host: set('host') as string | null,
    port: set('port') as string | number,
    baudrate: set('baudrate') as number | null,
    bytesize: set('bytesize') as number | null,
    parity: PARITY_LETTERS[String(set('parity'))] ?? null,
    stopbits: set('stopbits') as number | null,
    turnaround: set('turnaround') as string | number | null,
    t1_5: times?.t15 ?? null,
    t3_5: times?.t35 ?? null,
    gap: times?.gap ?? null,
    clients: clients ?? null,
    uptime,
    units,
    ...Object.fromEntries(COUNTED.map((name) => [countName(name), counters[name]])),
  };
}
