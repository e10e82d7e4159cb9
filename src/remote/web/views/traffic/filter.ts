/** The filters of the form, in its order. They are those of `/api/v1/traffic`. */
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

/** The filters in an address. `problems` is a switch beside the form. Other keys are about the page. */
export function filterIn(query: URLSearchParams): URLSearchParams {
  const entries = [...FILTERS, 'problems'].flatMap((name) =>
    query.getAll(name).map((value) => [name, value]),
  );
  return new URLSearchParams(entries.filter(([, value]) => value !== ''));
}

/** A query with changed values; an empty value removes its key. */
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

/** The later of two moments if both are times; otherwise the first. */
export function laterOf(moment: string, bound: string | null): string {
  return bound !== null && Date.parse(bound) > Date.parse(moment) ? bound : moment;
}

/** The addresses from which the filtered events are downloaded. */
export function downloadsOf(filter: URLSearchParams) {
  const csv = new URLSearchParams(filter);
  csv.set('format', 'csv');
  csv.set('limit', '100000');
  const [pcapng, learned] = ['capture.pcapng', 'learned.yaml'].map((file) => `/api/v1/${file}?${filter}`);
  return { csv: `/api/v1/traffic?${csv}`, pcapng, learned };
}

/**
 * A moment in the form of the API. A time of day means its last occurrence.
 * @param now time of the server, in ms since 1970
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
