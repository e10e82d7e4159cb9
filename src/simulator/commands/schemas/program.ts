import { z } from 'zod';
import type { DeclaredCommands } from '../declared.js';
import { lineViewSchema } from './line.js';
import { failures } from './problem.js';

const turnaroundView = z.object({
  count: z.number().describe('Replies that were sent since the start.'),
  sumMs: z
    .number()
    .describe('The sum of their response times: from the end of the request to the start of the reply.'),
});

const lineSummary = lineViewSchema
  .pick({ name: true, state: true, reason: true, place: true, uptime: true, clients: true, counters: true })
  .extend({
    edition: z.number().describe('Changes when settings or units of the line change.'),
    turnaround: turnaroundView,
  });

/** The state of everything at one moment, small enough to be sent every second. */
const summarySchema = z.object({
  time: z.string().describe("The time of this machine's clock, ISO 8601."),
  monotonicUs: z.number().describe('The same moment in µs since the program started.'),
  program: z.object({
    host: z.string(),
    version: z.string(),
    run: z.string().describe('Identifies this run of the program: a different text after each start.'),
  }),
  lastSeq: z.number().describe('The sequence number of the newest traffic event.'),
  lines: z.array(lineSummary),
  devices: z.object({
    edition: z.number().describe('Changes when a device is added or removed.'),
    signals: z.number().describe('Changes when a signal is set or restarted.'),
  }),
  faults: z.object({
    changes: z.number().describe('How many times a rule was put in force, switched or removed.'),
    hits: z.number().describe('How many times any rule has acted.'),
  }),
});

export type Summary = z.infer<typeof summarySchema>;

const configurationAnswer = {
  description: 'A native file.',
  content: { 'application/yaml': { schema: z.string() } },
};

const portView = z
  .object({
    path: z.string().describe('This path may change when the machine restarts.'),
    stableNames: z.array(z.string()).describe('Stable links in /dev/modbus-sim and /dev/serial.'),
    adapter: z.object({
      kind: z.string(),
      name: z.string(),
      fifoCharacters: z.number().describe('The maximum gap between two chunks of one frame, in characters.'),
      latencyMs: z.number().describe('The maximum time that a USB adapter delays bytes.'),
    }),
    hints: z.array(z.string()),
    usb: z
      .object({
        vendorId: z.string(),
        productId: z.string(),
        manufacturer: z.string().nullable(),
        product: z.string().nullable(),
        serialNumber: z.string().nullable(),
      })
      .nullable()
      .describe(
        'Identifiers of four hexadecimal digits, and the description that the adapter reports; null if the port is not a USB device.',
      ),
    lines: z.array(z.string()).describe('Lines that are configured for this port.'),
  })
  .meta({
    id: 'Port',
    description: 'A serial port.',
    examples: [
      {
        path: '/dev/ttyUSB0',
        stableNames: ['/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0'],
        adapter: { kind: 'ftdi', name: 'FTDI', fifoCharacters: 62, latencyMs: 1 },
        hints: [],
        usb: {
          vendorId: '0403',
          productId: '6001',
          manufacturer: 'FTDI',
          product: 'FT232R USB UART',
          serialNumber: 'A50285BI',
        },
        lines: ['bench'],
      },
    ],
  });

export type PortView = z.infer<typeof portView>;

const portList = z.object({ ports: z.array(portView) }).describe('The serial ports of this machine.');

/** The commands on the program as a whole. `../program.ts` carries them out. */
export const PROGRAM_COMMANDS = {
  'program.ping': { kind: 'query', summary: 'Answer at once, to show that the lines are served' },
  'program.summary': { kind: 'query', summary: 'Get the state of everything, in brief' },
  'program.map': { kind: 'query', summary: 'List the lines and units, for views of the traffic' },
  'program.metrics': { kind: 'query', summary: 'Get the measurements of the program' },
  'line.metrics': { kind: 'list', summary: 'List the measurements of the lines' },
  'line.sums': {
    kind: 'list',
    sent: z.object({ after: z.number() }),
    summary: 'List the traffic sums for the last few seconds',
  },
  'program.configuration': {
    rest: 'GET /configuration',
    kind: 'list',
    summary: 'Get the running configuration',
    description: 'The running configuration as a native file, with all changes since the start.',
    response: { 200: configurationAnswer },
  },
} as const satisfies DeclaredCommands;

export const PORT_COMMANDS = {
  // The answer lists the serial ports of the lines. REST answers with all ports of the machine.
  'program.ports': {
    rest: 'GET /ports',
    kind: 'query',
    summary: 'List the serial ports',
    description: 'The serial ports of this machine, with stable names, and the lines that use them.',
    member: 'ports',
    response: { 200: portList },
  },
} as const satisfies DeclaredCommands;

export const TRAFFIC_COMMANDS = {
  'traffic.clear': {
    rest: 'DELETE /traffic',
    summary: 'Clear the traffic',
    description: 'This also clears the exchanges. Sequence numbers continue.',
    response: { 204: z.null().describe('The traffic was cleared.') },
  },
} as const satisfies DeclaredCommands;

const content = z.record(z.string(), z.unknown(), { error: 'a configuration' });
const sent = { sent: content, as: 'configuration' } as const;

/**
 * Maximum length of a YAML configuration, in bytes. A shorter text may already have too many names and values
 * for a body.
 */
export const MAX_CONFIGURATION_BYTES = 64 * 1024;

const EXAMPLE = {
  devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
  lines: { lan: { tcp: { port: 5020 }, units: { 1: 'meter' } } },
};

const stepView = z
  .object({
    change: z.enum(['added', 'changed', 'removed']).describe('What happens to the part.'),
    of: z.enum(['line', 'device', 'rule']).describe('The kind of part.'),
    name: z.string().meta({ examples: ['meter'] }),
  })
  .meta({ id: 'ConfigurationStep', description: 'One step of a configuration change.' });

const changeView = z
  .object({
    steps: z
      .array(stepView)
      .describe('The changes, in this order; with `preview`, the changes that would be made.'),
  })
  .describe('What has changed.');

export type ConfigurationChange = z.output<typeof changeView>;

const PREVIEW = z.strictObject({
  preview: z.enum(['true', 'false']).optional().describe('`true` only reports what would change.'),
});

/** The commands that compare a configuration with what runs. `../configuration.ts` carries them out. */
export const CONFIGURATION_COMMANDS = {
  'configuration.check': {
    kind: 'query',
    ...sent,
    summary: 'Preview what a configuration would change',
  },
  'configuration.apply': {
    rest: 'PUT /configuration',
    ...sent,
    summary: 'Apply a configuration, all of it or nothing',
    description:
      "A native file in YAML or JSON, as returned by `GET`: its devices, lines and fault rules replace the running ones. Unchanged parts keep running; a device that changes keeps each value whose initial value is the same in both definitions. If a line can't be opened, nothing changes. `api`, `mqtt`, `traffic` and `state` may be included if they are unchanged.",
    schema: {
      querystring: PREVIEW,
      describedBody: content.meta({ examples: [EXAMPLE] }),
      yamlBody: z.string().meta({
        description: `A native file of at most ${MAX_CONFIGURATION_BYTES} bytes.`,
        examples: [
          'devices:\n  meter: {registers: {holding: [{address: 0, value: 7}]}}\nlines:\n  lan: {tcp: {port: 5020}, units: {1: meter}}\n',
        ],
      }),
    },
    response: { 200: changeView, ...failures(400, 409) },
  },
  'configuration.undo': {
    rest: 'POST /configuration/undo',
    summary: 'Undo the last change',
    description:
      'Restores the definitions that devices, lines and fault rules had before the last command that changed any of them. Later changes by others are kept. A second undo reverses the first. A restored device has the values of its definition.',
    response: { 200: changeView, ...failures(409) },
  },
} as const satisfies DeclaredCommands;
