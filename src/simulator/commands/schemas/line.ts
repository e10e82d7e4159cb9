import { z } from 'zod';
import { isMapping, text } from '../../../common/schema/parts.js';
import { LINE_SCHEMAS } from '../../../document/native/line-schema.js';
import { COUNTERS, type LineCounters } from '../../traffic/counters.js';
import type { DeclaredCommands } from '../declared.js';
import { failures, GONE } from './problem.js';

/**
 * Maximum number of entries. There are 256 unit identifiers and `*`, each of which may also be in a range, so
 * more entries must overlap.
 */
const MOST_ENTRIES = 512;

/** Rejects `units` of a line with too many entries before any entry is checked. */
export const unitsWithinReason = z
  .unknown()
  .refine((units) => !isMapping(units) || Object.keys(units).length <= MOST_ENTRIES, {
    error: ({ input }) =>
      `expected at most ${MOST_ENTRIES} entries, got ${Object.keys(input as object).length}`,
  });

/** The times of a serial line, in ms. */
const timesView = z.object({
  t15: z.number(),
  t35: z.number(),
  gap: z.number().describe('Silence after which an incomplete frame is discarded.'),
  turnaround: z
    .number()
    .nullable()
    .describe('Wait after a request before a reply; null replies as soon as the frame is complete.'),
  characterTime: z.number(),
});

/** What is known about an open port. */
const portView = z.object({
  adapter: z.string(),
  hint: z.string().nullable(),
  settings: z
    .string()
    .nullable()
    .describe("The settings of the driver, such as 19200 8E1; null if they can't be read back."),
  lowLatency: z
    .boolean()
    .nullable()
    .describe("Whether the driver hands over bytes at once; null if it can't be queried."),
  parityMarks: z.boolean(),
  direction: z.string().describe('What switches the RS-485 driver, in words.'),
});

/** Errors that the driver has counted since the port was created. */
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

/** A line. Fields that do not apply are absent: clients and port for a stopped line, times for a socket. */
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
    reason: z.string().nullable().describe('Why the line is not open.'),
    place: z.string().describe('The path of the port, or address and port.'),
    address: z
      .object({ host: z.string(), port: z.number() })
      .optional()
      .describe('Host and port of a socket. While it is open, the actual port, even for `port: 0`.'),
    link: z.string().nullable().describe('The stable name of a virtual line.'),
    settings: z
      .record(z.string(), z.unknown())
      .describe('The complete line as in a native file, as PUT accepts it.'),
    units: z.record(z.string(), z.string()).describe('Device names by unit identifier.'),
    manners: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .describe('How the devices deviate from conforming ones, by device name; times in ms.'),
    uptime: z.number().nullable().describe('How long the line has been open, in seconds.'),
    clients: z.number().optional(),
    times: timesView.optional(),
    port: portView.optional(),
    errorCounts: errorCountsView.optional(),
    counters: countersView,
  })
  .meta({ id: 'Line', description: 'A line.' });

export type LineView = z.infer<typeof lineViewSchema>;

const name = z.string({ error: 'a name' });

/** The notes on an added line. */
const ADDED = {
  description: 'A line as in the configuration, with its name. Port 0 picks a free port.',
  examples: [{ name: 'second', tcp: { port: 0 }, units: { 1: 'meter' } }],
};

/** The entry in the form of a native file, and the name. The line itself is checked when it is added. */
const newLine = z
  .looseObject(
    { name, units: unitsWithinReason.optional() },
    { error: 'a line as in a native file, with its name' },
  )
  .meta(ADDED);

const writtenUnits = z
  .record(z.string(), z.union([z.string(), z.looseObject({ copyOf: z.string() })]))
  .describe('Devices by unit identifier, range or `*`: `{"1": "meter", "2-9": {"copyOf": "meter"}}`.');

const writtenAs = (kind: keyof typeof LINE_SCHEMAS, description: string) => {
  // A line that only listens needs none. Only a serial line can do that.
  const units = kind === 'serial' ? writtenUnits.optional() : writtenUnits;
  return z.strictObject({ name, ...LINE_SCHEMAS[kind].shape, units }).describe(description);
};

/** Each kind of line in the form of a native file, with its name. */
const writtenLine = z
  .union([
    writtenAs('serial', 'A line on a serial port.'),
    writtenAs('tcp', 'A line on TCP.'),
    writtenAs('udp', 'A line on UDP.'),
    writtenAs('tls', 'A line on TLS.'),
  ])
  .meta(ADDED);

/** The settings of a line. They depend on its kind. */
const lineSettings = z
  .looseObject(
    { units: unitsWithinReason.optional() },
    { error: 'settings of the line, such as {"serial": {"baudRate": 9600}}' },
  )
  .meta({
    description:
      'Settings of the line as in the configuration. Settings that are left out do not change; null restores a default.',
    examples: [{ units: { 1: 'meter', 2: 'meter' } }],
  });

const lineList = z.object({ lines: z.array(lineViewSchema) }).describe('The lines.');

const lineParams = (example: string) =>
  z.object({ name: z.string().meta({ description: 'Name of the line.', examples: [example] }) });

const ofLine = { of: { line: text('the name of a line') }, params: lineParams('lan') };
const started = { ...ofLine, response: { 200: lineViewSchema, ...failures(404, 409) } };

/** The commands on lines: their state, and their settings. `../lines.ts` carries them out. */
export const LINE_COMMANDS = {
  'line.list': {
    rest: 'GET /lines',
    kind: 'list',
    summary: 'List the lines',
    description: 'Every line: its state, settings, counters and port.',
    member: 'lines',
    response: { 200: lineList },
  },
  'line.get': {
    rest: 'GET /lines/:name',
    kind: 'query',
    ...ofLine,
    summary: 'Get a line',
    description: 'The state, settings, counters and port of the line.',
    response: { 200: lineViewSchema, ...failures(404) },
  },
  'line.add': {
    rest: 'POST /lines',
    sent: newLine,
    schema: { body: newLine, describedBody: writtenLine },
    summary: 'Add a line',
    description: 'The line is opened at once. If that fails, it is not added.',
    response: { 201: lineViewSchema, ...failures(400, 409) },
  },
  'line.change': {
    rest: 'PUT /lines/:name',
    ...ofLine,
    sent: lineSettings,
    as: 'settings',
    summary: 'Change a line while it is open',
    description:
      'Registers keep their values. If the port refuses the new settings, the line keeps the old ones.',
    response: { 200: lineViewSchema, ...failures(400, 404, 409) },
  },
  'line.remove': {
    rest: 'DELETE /lines/:name',
    ...ofLine,
    summary: 'Remove a line',
    description: "The line is closed first. The last line can't be removed.",
    params: lineParams('old-lan'),
    response: { 204: GONE, ...failures(404, 409) },
  },
  'line.start': {
    rest: 'POST /lines/:name/start',
    ...started,
    summary: 'Open a line',
    description: 'An open line is left as it is.',
  },
  'line.restart': {
    rest: 'POST /lines/:name/restart',
    ...started,
    summary: 'Close and reopen a line',
    description: 'Registers keep their values. Certificates are read again.',
  },
  'line.stop': {
    rest: 'POST /lines/:name/stop',
    ...started,
    summary: 'Close a line',
    description: 'Waiting replies are dropped.',
  },
} as const satisfies DeclaredCommands;
