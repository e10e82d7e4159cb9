import { z } from 'zod';
import { lineSource } from '../../config/native/line-source.js';
import type { Line } from '../../simulator/line.js';
import { type LineStatus, lineStatus } from '../../simulator/line-status.js';
import { thousandths } from '../thousandths.js';
import { LINE } from './examples.js';

/** In ms. */
const timesView = z.object({
  t15: z.number(),
  t35: z.number(),
  gap: z.number().describe('Silence after which an incomplete frame is thrown away.'),
  turnaround: z
    .number()
    .nullable()
    .describe('Wait after a request before a reply; null replies as soon as the frame is complete.'),
  characterTime: z.number(),
});

/** What was found out about an open port. */
const portView = z.object({
  adapter: z.string(),
  hint: z.string().nullable(),
  settings: z
    .string()
    .nullable()
    .describe('As the driver has them, such as 19200 8E1; null where they can’t be read back.'),
  lowLatency: z
    .boolean()
    .nullable()
    .describe('Whether the driver hands over bytes at once; null where it can’t be asked.'),
  parityMarks: z.boolean(),
  direction: z.string().describe('Who switches the RS-485 driver, in words.'),
});

/** Errors that the driver has counted since the port exists. */
const errorCountsView = z.object({
  framing: z.number(),
  overrun: z.number(),
  parity: z.number(),
  break: z.number(),
  bufferOverrun: z.number(),
});

/** What has passed over the line since the start of the simulator; see `LineCounters`. */
const countersView = z.object({
  requests: z.number(),
  broadcasts: z.number(),
  dropped: z.number(),
  replies: z.number(),
  duplicates: z.number(),
  echoes: z.number(),
  collisions: z.number(),
  foreignFrames: z.number(),
  damagedFrames: z.number(),
  noiseBytes: z.number(),
  damagedCharacters: z.number(),
  rejected: z.number(),
});

/** A line. Fields that do not apply are absent: clients and port of a stopped line, times of a socket. */
export const lineViewSchema = z
  .object({
    name: z.string(),
    state: z.enum(['open', 'waiting', 'stopped', 'failed']),
    mode: z
      .enum(['server', 'monitor'])
      .optional()
      .describe('Serial lines only: whether the line answers, or only listens.'),
    reason: z.string().nullable().describe('Why it is not open.'),
    place: z.string().describe('The path of the port, or address and port.'),
    link: z.string().nullable().describe('The name of a virtual line that stays.'),
    settings: z
      .record(z.string(), z.unknown())
      .describe('The line as the native file has it, complete: what PUT takes.'),
    units: z.record(z.string(), z.string()).describe('Unit identifiers with the names of their devices.'),
    uptime: z.number().nullable().describe('How long the line has been open, in seconds.'),
    clients: z.number().optional(),
    times: timesView.optional(),
    port: portView.optional(),
    errorCounts: errorCountsView.optional(),
    counters: countersView,
  })
  .meta({ id: 'Line', description: 'A line.', examples: [LINE] });

export type LineView = z.infer<typeof lineViewSchema>;

export function lineView(line: Line): LineView {
  const { state, reason, place, link, uptime, clients, times, port, errorCounts } = lineStatus(line);
  return {
    name: line.name,
    state,
    ...(line.definition.kind === 'serial' && { mode: line.definition.mode }),
    reason: reason ?? null,
    place,
    link: link ?? null,
    settings: lineSource(line.definition),
    units: Object.fromEntries(line.bus.units),
    uptime: uptime === undefined ? null : thousandths(uptime),
    ...(clients !== undefined && { clients }),
    ...(times && { times: viewTimes(times) }),
    ...(port && { port: viewPort(port) }),
    ...(errorCounts && { errorCounts }),
    counters: { ...line.counters },
  };
}

function viewTimes({ t15, t35, gap, turnaround, characterTime }: NonNullable<LineStatus['times']>) {
  return {
    t15: thousandths(t15),
    t35: thousandths(t35),
    gap: thousandths(gap),
    turnaround: turnaround === undefined ? null : thousandths(turnaround),
    characterTime: thousandths(characterTime),
  };
}

function viewPort({
  adapter,
  settings,
  lowLatency,
  parityMarks,
  direction,
}: NonNullable<LineStatus['port']>): z.infer<typeof portView> {
  return {
    adapter: adapter.name,
    hint: adapter.hint ?? null,
    settings: settings ?? null,
    lowLatency: lowLatency ?? null,
    parityMarks,
    direction,
  };
}
