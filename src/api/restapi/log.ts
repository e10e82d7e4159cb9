import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import { DIRECTIONS, EVENT_KINDS, type TrafficEvent } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { wantedNewestFirst, wantedOldestFirst } from '../../traffic/reading.js';
import { trafficView } from '../../traffic/view.js';
import type { Desk } from '../desk.js';
import { type Failure, mistakes } from '../failure.js';
import { logFilter, logRequest, logSubmit } from './log-request.js';

const logRowSchema = z.object({
  index: z.number().describe('The sequence number of the event.'),
  time: z.string(),
  line: z.string(),
  kind: z.enum(EVENT_KINDS),
  direction: z.enum(DIRECTIONS),
  unit: z.number().nullable(),
  fc: z.number().nullable(),
  address: z.number().nullable(),
  count: z.number().nullable(),
  data: z.string().describe('Hexadecimal bytes, at most 1024.'),
  text: z.string(),
});

type LogRow = z.infer<typeof logRowSchema>;

export const logAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    log_rows: z.array(logRowSchema),
  })
  .meta({ id: 'Log', description: 'Events of the traffic, one row for each.' });

/** Rows that a monitor lists. */
const MAX_ROWS = 1000;
/** Rows that are made without a pause. */
const BATCH = 64;

/** What is listed: everything that passed after one event and, once stopped, not after another. */
interface Watch {
  readonly filter: TrafficFilter;
  readonly after: number;
  readonly until?: number;
}

/** POST /restapi/log: everything that passed the lines, as rows. */
export class LogEndpoint {
  readonly #desk: Desk;
  #watch: Watch | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async handle(body: unknown): Promise<Failure | Readonly<Record<string, unknown>>> {
    const findings = new Findings();
    const request = new At(body, findings).check(logSubmit);
    const { traffic, door } = this.#desk;
    switch (request?.submit) {
      case undefined:
        return mistakes(findings);
      case 'Download': {
        const filter = await this.#filterOf(body, findings);
        if (!filter) return mistakes(findings);
        return this.#answer('Everything that is kept, the oldest first', wantedOldestFirst(traffic, filter));
      }
      case 'Monitor': {
        const filter = await this.#filterOf(body, findings);
        if (!filter) return mistakes(findings);
        const isActive = this.#watch !== undefined && this.#watch.until === undefined;
        this.#watch = { filter, after: isActive ? (this.#watch?.after ?? 0) : traffic.last };
        return this.#answer('Monitoring active', this.#watched());
      }
      case 'Stop':
        if (this.#watch) this.#watch = { until: traffic.last, ...this.#watch };
        return this.#answer('Stopped monitoring', this.#watched());
      case 'Clear':
        await door.call('traffic.clear', undefined);
        return this.#answer('Log cleared', []);
    }
  }

  async #filterOf(body: unknown, findings: Findings): Promise<TrafficFilter | undefined> {
    const at = new At(body, findings);
    const request = at.check(logRequest);
    if (!request) return undefined;
    const { map } = this.#desk;
    await map.refresh();
    if (request.line != null && !map.get(request.line))
      return at.key('line').wrong(unknownName('line', request.line, [...map.names()]));
    return logFilter(request);
  }

  #watched(): Iterable<TrafficEvent | undefined> {
    if (!this.#watch) return [];
    const { filter, ...span } = this.#watch;
    return firstOf(MAX_ROWS, wantedNewestFirst(this.#desk.traffic, filter, span));
  }

  #answer(footer: string, events: Iterable<TrafficEvent | undefined>): Readonly<Record<string, unknown>> {
    const { traffic } = this.#desk;
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

async function* rowsOf(
  events: Iterable<TrafficEvent | undefined>,
  read: (seq: number) => TrafficEvent | undefined,
): AsyncGenerator<readonly LogRow[]> {
  let rows: LogRow[] = [];
  for (const event of events) {
    if (event) rows.push(rowOf(event, read));
    if (event && rows.length < BATCH) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

function rowOf(event: TrafficEvent, read: (seq: number) => TrafficEvent | undefined): LogRow {
  const { seq, time, line, kind, direction, text, ...view } = trafficView(event, read);
  return {
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
