import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { EVENT_KINDS, type TrafficEvent } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { wantedNewestFirst, wantedOldestFirst } from '../../traffic/reading.js';
import { DIRECTIONS, trafficView } from '../../traffic/view.js';
import { logFilter, logRequest, logSubmit } from './log-request.js';
import { mistakes, type Outcome } from './outcome.js';

const logRowSchema = z.object({
  /** The sequence number of the event. */
  index: z.number(),
  time: z.string(),
  line: z.string(),
  kind: z.enum(EVENT_KINDS),
  direction: z.enum(DIRECTIONS),
  unit: z.number().nullable(),
  fc: z.number().nullable(),
  address: z.number().nullable(),
  count: z.number().nullable(),
  /** Hexadecimal bytes, at most 1024. */
  data: z.string(),
  text: z.string(),
});

type LogRow = z.infer<typeof logRowSchema>;

export const logAnswerSchema = z.object({
  result: z.literal('ok'),
  footer: z.string(),
  log_rows: z.array(logRowSchema),
});

interface LogAnswer extends Omit<z.infer<typeof logAnswerSchema>, 'log_rows'> {
  readonly log_rows: Iterable<LogRow | undefined>;
}

/** Rows that a monitor lists. */
const MAX_ROWS = 1000;

/** What is listed: everything that passed after one event and, once stopped, not after another. */
interface Watch {
  readonly filter: TrafficFilter;
  readonly after: number;
  readonly until?: number;
}

/** POST /restapi/log: everything that passed the lines, as rows. */
export class LogEndpoint {
  readonly #simulator: Simulator;
  #watch: Watch | undefined;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  handle(body: unknown): Outcome<LogAnswer> {
    const findings = new Findings();
    const request = new At(body, findings).check(logSubmit);
    const { traffic } = this.#simulator;
    switch (request?.submit) {
      case undefined:
        return mistakes(findings);
      case 'Download': {
        const filter = this.#filterOf(body, findings);
        if (!filter) return mistakes(findings);
        return this.#answer('Everything that is kept, the oldest first', wantedOldestFirst(traffic, filter));
      }
      case 'Monitor': {
        const filter = this.#filterOf(body, findings);
        if (!filter) return mistakes(findings);
        const isActive = this.#watch !== undefined && this.#watch.until === undefined;
        this.#watch = { filter, after: isActive ? (this.#watch?.after ?? 0) : traffic.last };
        return this.#answer('Monitoring active', this.#watched());
      }
      case 'Stop':
        if (this.#watch) this.#watch = { until: traffic.last, ...this.#watch };
        return this.#answer('Stopped monitoring', this.#watched());
      case 'Clear':
        traffic.clear();
        return this.#answer('Log cleared', []);
    }
  }

  #filterOf(body: unknown, findings: Findings): TrafficFilter | undefined {
    const at = new At(body, findings);
    const request = at.check(logRequest);
    if (!request) return undefined;
    const { lines } = this.#simulator;
    if (request.line != null && !lines.has(request.line))
      return at.key('line').wrong(unknownName('line', request.line, [...lines.keys()]));
    return logFilter(request);
  }

  #watched(): Iterable<TrafficEvent | undefined> {
    if (!this.#watch) return [];
    const { filter, ...span } = this.#watch;
    return firstOf(MAX_ROWS, wantedNewestFirst(this.#simulator.traffic, filter, span));
  }

  #answer(footer: string, events: Iterable<TrafficEvent | undefined>): LogAnswer {
    const { traffic } = this.#simulator;
    return { result: 'ok', footer, log_rows: rowsOf(events, (seq) => traffic.read(seq)) };
  }
}

function* firstOf(count: number, events: Iterable<TrafficEvent | undefined>) {
  let left = count;
  for (const event of events) {
    yield event;
    if (event && --left === 0) return;
  }
}

function* rowsOf(
  events: Iterable<TrafficEvent | undefined>,
  read: (seq: number) => TrafficEvent | undefined,
): Generator<LogRow | undefined> {
  for (const event of events) {
    if (!event) {
      yield undefined;
      continue;
    }
    const { seq, time, line, kind, direction, text, ...view } = trafficView(event, read);
    yield {
      index: seq,
      time,
      line,
      kind,
      direction,
      unit: view.unit ?? null,
      fc: view.function ?? null,
      address: view.address ?? null,
      count: view.quantity ?? null,
      data: view.bytes ?? '',
      text,
    };
  }
}
