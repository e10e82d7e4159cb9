import type { TrafficView } from '../../../../simulator/traffic/view-schema.js';
import { DAMAGE } from './rows.js';

/** What is wrong with the moments of a query on a file, which knows no `5m` ago; undefined if nothing is. */
export function refusedMoment(
  query: URLSearchParams,
): { readonly path: string; readonly message: string } | undefined {
  const path = ['since', 'until'].find(
    (name) => query.has(name) && Number.isNaN(Date.parse(query.get(name) ?? '')),
  );
  return path === undefined
    ? undefined
    : { path, message: 'expected a time in ISO 8601: this page is a file, which knows no now' };
}

/** A page of recorded events, as `GET /api/v1/traffic` answers a query. @param events the oldest first */
export function pageOf(events: readonly TrafficView[], query: URLSearchParams) {
  const after = query.get('after');
  const limit = Number(query.get('limit') ?? 100);
  const passed = events.filter(
    (event) => (after === null || event.seq > Number(after)) && passes(event, query),
  );
  const shown = after === null ? passed.slice(-limit) : passed.slice(0, limit);
  const [first, last] = [events[0]?.seq ?? 1, events.at(-1)?.seq ?? 0];
  return { events: shown, next: shown.at(-1)?.seq ?? last, first, last, missed: 0 };
}

/** Whether an event passes the filters of a query; of several values of one filter, one has to match. */
function passes(event: TrafficView, query: URLSearchParams): boolean {
  const { line, unit, function: code, kind, direction, faults = [], address, quantity = 1 } = event;
  const [since, until] = [query.get('since'), query.get('until')];
  const tests: Readonly<Record<string, (text: string) => boolean>> = {
    line: (text) => text === line,
    kind: (text) => text === kind,
    direction: (text) => text === direction,
    rule: (text) => faults.some(({ rule }) => rule === text),
    unit: (text) => overlaps(text, unit, 1),
    function: (text) => overlaps(text, code, 1),
    address: (text) => overlaps(text, address, quantity),
  };
  return (
    Object.entries(tests).every(([name, fits]) => {
      const wanted = query.getAll(name).flatMap((text) => [text, ...text.split(',')]);
      return wanted.length === 0 || wanted.some(fits);
    }) &&
    isWanted(event, query.get('problems') ?? '') &&
    (since === null || Date.parse(event.time) >= Date.parse(since)) &&
    (until === null || Date.parse(event.time) <= Date.parse(until))
  );
}

/** @param range `7` or `10-19` */
function overlaps(range: string, first: number | undefined, quantity: number): boolean {
  const [from = Number.NaN, to = from] = range.split('-').map(Number);
  return first !== undefined && from < first + quantity && first <= to;
}

/** @param problems as in the query of the API */
function isWanted(event: TrafficView, problems: string): boolean {
  if (problems === '' || problems === 'false') return true;
  const { kind, faults = [], silence, ended, exception } = event;
  const isOrdered = faults.length > 0;
  if (kind === 'reply' && (isOrdered || problems === 'ordered')) return isOrdered && problems !== 'unordered';
  const isBad = kind === 'reply' && (silence != null || exception !== undefined || ended !== 'complete');
  return (
    problems !== 'ordered' && (isBad || DAMAGE.has(kind) || kind === 'dropped' || kind === 'client rejected')
  );
}
