import { z } from 'zod';
import { unknownName } from '../../common/schema/nearest.js';
import { oneOf } from '../../common/schema/parts.js';
import { moment } from '../../common/schema/units.js';
import type { ApiContext } from '../../remote/api/desk.js';
import { type Failure, failure } from '../../remote/api/error-answer.js';
import type { Filter } from '../../simulator/filter/filter.js';
import { DIRECTIONS, EVENT_KINDS, type TrafficEvent } from '../../simulator/traffic/event.js';
import { type TrafficFilter, wantedNewestFirst, wantedOldestFirst } from '../../simulator/traffic/reading.js';
import { trafficView } from '../../simulator/traffic/view.js';
import {
  isInOrder,
  listed,
  listFilter,
  NOT_IN_ORDER,
  noFields,
  optionalInteger,
  orEmpty,
  requests,
  Watch,
} from './fields.js';

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
  .meta({ id: 'Log', description: 'Traffic events, one per row.' });

/** The fields that select rows. */
const logRequest = z
  .object({
    ...listed,
    line: orEmpty(z.string({ error: 'the name of a line' }).nullish(), undefined),
    unit: optionalInteger,
    direction: orEmpty(oneOf(DIRECTIONS).nullish(), undefined),
    since: orEmpty(moment.nullish(), undefined),
  })
  .refine(isInOrder, NOT_IN_ORDER);

type LogRequest = z.infer<typeof logRequest>;

export const LOG_REQUESTS = requests(
  { Download: logRequest, Monitor: logRequest, Stop: noFields, Clear: noFields },
  { submit: 'Download', unit: 1, function: 3, since: '5m' },
);

/** Maximum number of rows in a list. */
export const MAX_ROWS = 1000;
/** Number of rows made without a pause. */
const ROWS_PER_TURN = 64;

/** Serves POST /restapi/log: the traffic of all lines, as rows. */
export class LogEndpoint {
  readonly #desk: ApiContext;
  readonly #watch: Watch<TrafficFilter>;

  constructor(desk: ApiContext) {
    this.#desk = desk;
    this.#watch = new Watch(desk.traffic);
  }

  async handle(body: object): Promise<Failure | Readonly<Record<string, unknown>>> {
    const { traffic, rpc, map } = this.#desk;
    const request = LOG_REQUESTS.read(body);
    if ('result' in request) return request;
    switch (request.submit) {
      case 'Download':
      case 'Monitor': {
        const { fields } = request;
        await map.refresh();
        if (fields.line != null && !map.get(fields.line))
          return failure(`line: ${unknownName('line', fields.line, [...map.names()])}`);
        const filter = logFilter(fields);
        if (request.submit === 'Download')
          return this.#answer('All recorded events, oldest first', wantedOldestFirst(traffic, filter));
        this.#watch.begin(filter);
        return this.#answer('Monitoring active', this.#watched());
      }
      case 'Stop':
        this.#watch.stop();
        return this.#answer('Stopped monitoring', this.#watched());
      case 'Clear':
        await rpc.call('traffic.clear', undefined);
        return this.#answer('Log cleared', []);
    }
  }

  #watched(): Iterable<TrafficEvent | undefined> {
    const { watched } = this.#watch;
    if (!watched) return [];
    return firstOf(MAX_ROWS, wantedNewestFirst(this.#desk.traffic, watched.filter, watched.span));
  }

  #answer(footer: string, events: Iterable<TrafficEvent | undefined>): Readonly<Record<string, unknown>> {
    const { traffic } = this.#desk;
    return { result: 'ok', footer, log_rows: rowsOf(events, (seq) => traffic.read(seq)) };
  }
}

function logFilter({ line, unit, direction, since, ...about }: LogRequest): TrafficFilter {
  const all: Filter[] = listFilter(about);
  if (line != null) all.push({ field: 'line', texts: [line] });
  if (unit != null) all.push({ field: 'unit', ranges: [[unit, unit]] });
  if (direction != null) all.push({ field: 'direction', texts: [direction] });
  if (since != null)
    all.push({ field: 'since', ranges: [[Math.round(1000 * since), Number.POSITIVE_INFINITY]] });
  return { wanted: { all } };
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
    if (event && rows.length < ROWS_PER_TURN) continue;
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
