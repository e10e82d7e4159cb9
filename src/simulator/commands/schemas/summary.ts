import { z } from 'zod';
import { lineViewSchema } from './line.js';

const turnaroundView = z.object({
  count: z.number().describe('Replies that were sent since the start.'),
  sumMs: z
    .number()
    .describe('Their times from the end of the request to the beginning of the reply, added up.'),
});

const lineSummary = lineViewSchema
  .pick({ name: true, state: true, reason: true, place: true, uptime: true, clients: true, counters: true })
  .extend({
    edition: z.number().describe('Another number when settings or units of the line have changed.'),
    turnaround: turnaroundView,
  });

/** The state of everything at one moment, small enough to be sent every second. */
const summarySchema = z.object({
  time: z.string().describe('By the clock of this machine, ISO 8601.'),
  monotonicUs: z.number().describe('The same moment in µs since the program started.'),
  program: z.object({
    host: z.string(),
    version: z.string(),
    run: z.string().describe('Another text after each start of the program.'),
  }),
  lastSeq: z.number().describe('The sequence number of the newest event of the traffic.'),
  lines: z.array(lineSummary),
  devices: z.object({
    edition: z.number().describe('Another number when a device has come or gone.'),
    signals: z.number().describe('Another number when a signal was set or has begun anew.'),
  }),
  faults: z.object({
    changes: z.number().describe('How often a rule was put in force, switched or removed.'),
    hits: z.number().describe('How often any rule has acted.'),
  }),
});

export type Summary = z.infer<typeof summarySchema>;
