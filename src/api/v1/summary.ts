import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { version } from '../../config/version.js';
import type { Line } from '../../simulator/line.js';
import { lineStatus } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import { micros } from '../../traffic/time.js';
import { thousandths } from '../thousandths.js';
import { lineViewSchema } from './line-view.js';

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

/** How everything is at one moment, small enough to be sent every second. */
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
  devices: z.object({ edition: z.number().describe('Another number when a device has come or gone.') }),
  faults: z.object({
    changes: z.number().describe('How often a rule was put in force, switched or removed.'),
    hits: z.number().describe('How often any rule has acted.'),
  }),
});

export type Summary = z.infer<typeof summarySchema>;

/** Readers ask at the same moments, and wait for each other's turns. */
const FRESH_MS = 25;

/** Makes summaries of a simulator. */
function summaries(simulator: Simulator): () => Summary {
  const program = { host: hostname(), version: version(), run: randomUUID() };
  const edition = editions();
  return () => {
    const { traffic, lines, faults } = simulator;
    return {
      time: new Date().toISOString(),
      monotonicUs: micros(performance.now()),
      program,
      lastSeq: traffic.last,
      lines: Array.from(lines.values(), (line) => summaryOf(line, edition(line.definition))),
      devices: { edition: simulator.deviceChanges },
      faults: { changes: faults.rules.changes, hits: faults.rules.hits },
    };
  };
}

/** Makes summaries as JSON, and one for all readers that ask within the same few ms. */
export function summaryTexts(simulator: Simulator): () => string {
  const summary = summaries(simulator);
  let [text, madeAt] = ['', Number.NEGATIVE_INFINITY];
  return () => {
    if (performance.now() - madeAt > FRESH_MS) {
      text = JSON.stringify(summary());
      madeAt = performance.now();
    }
    return text;
  };
}

function summaryOf(line: Line, edition: number): Summary['lines'][number] {
  const { state, reason, place, uptime, clients } = lineStatus(line);
  const { counts, sum } = line.meters.turnaround;
  return {
    name: line.name,
    state,
    reason: reason ?? null,
    place,
    uptime: uptime === undefined ? null : thousandths(uptime),
    ...(clients !== undefined && { clients }),
    counters: { ...line.counters },
    edition,
    turnaround: { count: counts.reduce((total, count) => total + count, 0), sumMs: thousandths(sum) },
  };
}

/** Numbers objects, each the first time that it is seen. */
function editions(): (object: object) => number {
  const known = new WeakMap<object, number>();
  let last = 0;
  return (object) => {
    const edition = known.get(object) ?? ++last;
    known.set(object, edition);
    return edition;
  };
}
