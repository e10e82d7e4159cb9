import { z } from 'zod';
import { COUNTERS, type LineCounters } from '../../traffic/counters.js';
import { unitsWithinReason } from './units.js';

/** The times of a serial line, in ms. */
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

/** The facts that are known of an open port. */
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

/** The counters of a line since the start of the simulator; see `LineCounters`. */
const countersView = z.object(
  Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, z.number()])) as Record<
    keyof LineCounters,
    z.ZodNumber
  >,
);

/** A line. Fields that do not apply are absent: clients and port of a stopped line, times of a socket. */
export const lineViewSchema = z
  .object({
    name: z.string(),
    description: z
      .string()
      .describe('The line in words: `RTU on /dev/ttyUSB0 19200 8E1, units 1-3; t1.5 …`.'),
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
  .meta({ id: 'Line', description: 'A line.' });

export type LineView = z.infer<typeof lineViewSchema>;

export const lineName = z.object({
  name: z.string().meta({ description: 'Name of the line.', examples: ['lan'] }),
});

const name = z.string({ error: 'a name' });

/** The entry of a native file, and the name. The line itself is checked when it is added. */
export const newLine = z
  .looseObject(
    { name, units: unitsWithinReason.optional() },
    { error: 'a line as in a native file, with its name' },
  )
  .meta({
    description: 'A line as in the configuration, with its name. Port 0 is any free port.',
    examples: [{ name: 'second', tcp: { port: 0 }, units: { 1: 'meter' } }],
  });

/** The settings of a line. Its kind decides which settings it has. */
export const lineSettings = z
  .looseObject(
    { units: unitsWithinReason.optional() },
    { error: 'settings of the line, such as {"serial": {"baudRate": 9600}}' },
  )
  .meta({
    description:
      'Settings of the line as in the configuration. Those that are left out stay; null restores a default.',
    examples: [{ units: { 1: 'meter', 2: 'meter' } }],
  });
