import type { TrafficView } from '../../../simulator/traffic/view-schema.js';

type TrafficRow = Partial<TrafficView>;

/** The columns of traffic as CSV, and how their values are made; undefined and null are empty. */
const COLUMNS: Readonly<Record<string, (row: TrafficRow) => unknown>> = {
  seq: ({ seq }) => seq,
  line: ({ line }) => line,
  kind: ({ kind }) => kind,
  direction: ({ direction }) => direction,
  time: ({ time }) => time,
  monotonicUs: ({ monotonicUs }) => monotonicUs,
  pauseUs: ({ pauseUs }) => pauseUs,
  pauseCharacters: ({ pauseCharacters }) => pauseCharacters,
  unit: ({ unit }) => unit,
  function: ({ function: functionCode }) => functionCode,
  name: ({ name }) => name,
  address: ({ address }) => address,
  quantity: ({ quantity }) => quantity,
  values: ({ values }) => values?.join(' '),
  names: ({ names }) => names?.join(' '),
  exception: ({ exception }) => exception,
  request: ({ request }) => request,
  responseTimeUs: ({ responseTimeUs }) => responseTimeUs,
  faults: ({ faults }) => faults?.map(({ rule, kind }) => `${rule}: ${kind}`).join('; '),
  ended: ({ ended }) => ended,
  client: ({ client }) => client,
  bytes: ({ bytes }) => bytes,
  text: ({ text }) => text,
  host: ({ host }) => host,
};

/** The header row (RFC 4180). */
export const CSV_HEADER = rowOf(Object.keys(COLUMNS));

/** A row for each event. */
export function csvOf(views: readonly TrafficRow[]): string {
  return views.map((view) => rowOf(Object.values(COLUMNS).map((cell) => cell(view)))).join('');
}

function rowOf(cells: readonly unknown[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: unknown): string {
  const text = cell === undefined || cell === null ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
