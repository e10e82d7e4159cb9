import { withPart } from '../../../../simulator/filter/complete.js';
import { fieldNamed } from '../../../../simulator/filter/fields.js';

/** The fields of the form, in order. They are also parameters of `/api/v1/traffic`. */
export const FILTERS = [
  'line',
  'unit',
  'function',
  'address',
  'kind',
  'direction',
  'rule',
  'since',
  'until',
] as const;

export type FilterName = (typeof FILTERS)[number];

/**
 * The filter in an address, as one text: `filter`, and the conditions in REST parameters.
 * @param lines names of lines, which may contain commas
 */
export function filterIn(query: URLSearchParams, lines: readonly string[] = []): string {
  return [...FILTERS, 'host', 'problems'].reduce((text, name) => {
    const written = query.getAll(name).filter((value) => value !== '');
    if (written.length === 0) return text;
    return name === 'problems' ? withProblems(text, written[0]) : withField(text, name, written, lines);
  }, query.get('filter') ?? '');
}

/** Adds the content of a field in the form to a filter. */
export function withField(
  text: string,
  name: string,
  written: readonly string[],
  lines: readonly string[] = [],
): string {
  const values = written.flatMap((each) => (lines.includes(each) ? [each] : each.split(',')));
  const field = fieldNamed(name);
  return field ? withPart(text, field, values.map((each) => each.trim()).filter(Boolean)) : text;
}

/** A filter for problems. @param which as `problems` in REST; empty for everything */
export function withProblems(text: string, which = ''): string {
  return withPart(
    text,
    'problem',
    which === 'true' ? undefined : which === '' || which === 'false' ? [] : [which],
  );
}

/** Parameters that an address no longer has once its filter is one text. */
export const NO_PARAMETERS = Object.fromEntries([...FILTERS, 'host', 'problems'].map((name) => [name, '']));

/** A query with changed values. An empty value removes its key. */
export function withValues(
  query: URLSearchParams,
  values: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [name, value = ''] of Object.entries(values)) {
    if (value.trim() === '') changed.delete(name);
    else changed.set(name, value.trim());
  }
  return changed;
}

/** The addresses for downloading the filtered events. */
export function downloadsOf(filter: string) {
  const asked = filter === '' ? undefined : { filter };
  const csv = new URLSearchParams({ ...asked, format: 'csv', limit: '100000' });
  const [pcapng, learned] = ['capture.pcapng', 'learned.yaml'].map(
    (file) => `/api/v1/${file}?${new URLSearchParams(asked)}`,
  );
  return { csv: `/api/v1/traffic?${csv}`, pcapng, learned };
}

/**
 * Formats a time for the API. A time of day means its last occurrence.
 * @param now server time, in ms since 1970
 */
export function momentOf(text: string, now: number): string {
  const [isTime, hours, minutes, seconds = '0', fraction = ''] =
    /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/.exec(text.trim()) ?? [];
  if (isTime === undefined) return text.trim();
  const moment = new Date(now);
  moment.setHours(Number(hours), Number(minutes), Number(seconds), 0);
  if (moment.getTime() > now) moment.setDate(moment.getDate() - 1);
  return `${moment.toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}Z`;
}
