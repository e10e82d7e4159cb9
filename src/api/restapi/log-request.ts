import { z } from 'zod';
import { oneOf } from '../../schema/parts.js';
import { DIRECTIONS } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { moment } from '../moment.js';
import { optionalInteger, orEmpty } from './fields.js';

const LAST_ADDRESS = 0xffff;

/** Checked first, because the other fields are for two of them only. */
export const logSubmit = z.object({ submit: oneOf(['Download', 'Monitor', 'Stop', 'Clear']) });

const logFields = z.object({
  line: orEmpty(z.string({ error: 'the name of a line' }).nullish(), undefined),
  unit: optionalInteger,
  function: optionalInteger,
  range_start: optionalInteger,
  range_stop: optionalInteger,
  direction: orEmpty(oneOf(DIRECTIONS).nullish(), undefined),
  since: orEmpty(moment.nullish(), undefined),
});

/** Which rows are listed; what is absent or empty matches anything. */
export const logRequest = logFields.refine(
  ({ range_start, range_stop }) => range_stop == null || (range_start ?? 0) <= range_stop,
  { error: 'expected range_start or more', path: ['range_stop'] },
);

/** All requests, for the document of the interface. */
export const logBody = z
  .union([
    logFields.extend({ submit: z.literal(['Download', 'Monitor']) }),
    z.object({ submit: z.literal(['Stop', 'Clear']) }),
  ])
  .meta({ examples: [{ submit: 'Download', unit: 1, function: 3, since: '5m' }] });

type LogRequest = z.infer<typeof logRequest>;

/** The filter that a request asks for. Without `range_stop` the range is one address. */
export function logFilter(request: LogRequest): TrafficFilter {
  const { line, unit, function: functionCode, range_start, range_stop, direction, since } = request;
  const first = range_start ?? 0;
  const last = range_stop ?? range_start ?? LAST_ADDRESS;
  const isRange = range_start != null || range_stop != null;
  return {
    lines: setOf(line),
    units: setOf(unit),
    functions: setOf(functionCode),
    addresses: isRange ? [{ address: first, quantity: last - first + 1 }] : undefined,
    directions: setOf(direction),
    since: since ?? undefined,
  };
}

function setOf<Item>(item: Item | null | undefined): ReadonlySet<Item> | undefined {
  return item == null ? undefined : new Set([item]);
}
