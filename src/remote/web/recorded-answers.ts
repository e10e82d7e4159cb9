import { BAD_REQUEST } from '../../common/rest-client/client.js';
import type { NewEvent } from '../../simulator/traffic/event.js';
import { addTo, LineSums, type SumRow } from '../../simulator/traffic/sums.js';
import { recordedDevices, recordedEvents, recordedLines } from './recorded.js';
import { answeredAbout } from './recorded-registers.js';
import type { Event } from './views/traffic/chunks.js';
import { filterIn } from './views/traffic/filter.js';
import { pageOf } from './views/traffic/recorded-page.js';

/** As for a time whose registers are no longer kept. */
const CONFLICT = 409;

/** Answers a request with the content of the file, like the simulator would. */
export function answered(path: string): Response {
  const { pathname, searchParams } = new URL(path, 'http://file');
  if (pathname === '/lines') return Response.json({ lines: recordedLines });
  if (pathname === '/sums')
    return Response.json({ sums: sumsOf({ '10s': 10, '1m': 60 }[searchParams.get('every') ?? ''] ?? 1) });
  if (pathname === '/traffic') {
    const lines = recordedLines.map(({ name }) => name);
    const page = pageOf(recordedEvents, filterIn(searchParams, lines), searchParams);
    return 'message' in page
      ? Response.json({ detail: page.message, problems: [page] }, { status: BAD_REQUEST })
      : Response.json(page);
  }
  const [, first, ...parts] = pathname.split('/');
  const answer = first === 'devices' ? answeredAbout(recordedDevices, parts, searchParams) : undefined;
  if (typeof answer === 'string') return Response.json({ detail: answer }, { status: CONFLICT });
  if (answer) return Response.json(answer);
  return Response.json(
    { detail: 'This page is a saved file: there is no simulator behind it.' },
    { status: 404 },
  );
}

/** The summed traffic of the lines in periods of one length, using the simulator's own code. */
function sumsOf(seconds: number) {
  const sums = new Map<string, { readonly line: string; readonly from: number; readonly row: SumRow }>();
  const add = (line: string, second: number, row: SumRow) => {
    const from = Math.floor(second / seconds) * seconds;
    const key = `${from} ${row.unit} ${row.function} ${line}`;
    const known = sums.get(key);
    if (known) addTo(known.row, row);
    else sums.set(key, { line, from, row: { ...row } });
  };
  const lines = recordedLines.map(({ name, times }) => ({ name, times, sums: new LineSums(), last: -1 }));
  const byName = new Map(lines.map((line) => [line.name, line]));
  const take = (line: (typeof lines)[number], now: number) => {
    for (const { second, rows } of line.sums.after(line.last, now)) {
      line.last = second;
      for (const row of rows) add(line.name, second, row);
    }
  };
  for (const event of recordedEvents) {
    const line = byName.get(event.line) as (typeof lines)[number];
    take(line, event.monotonicUs / 1000);
    line.sums.count(reported(event), line.times.characterTime ?? 0, () => event.exception);
  }
  for (const line of lines) take(line, Number.POSITIVE_INFINITY);
  return Array.from(sums.values(), ({ line, from, row }) => ({
    ...row,
    ...{ line, seconds, monotonicUs: from * 1e6 },
    unit: row.unit < 0 ? null : row.unit,
    function: row.function < 0 ? null : row.function,
  })).sort((a, b) => a.monotonicUs - b.monotonicUs);
}

/** An event in the form in which its line reported it, as far as sums need it. */
function reported(event: Event): NewEvent {
  const { kind, monotonicUs, requestedUs = monotonicUs, silence, steps = [], faults } = event;
  const about = {
    kind,
    at: monotonicUs / 1000,
    unitId: event.unit ?? -1,
    functionCode: event.function ?? -1,
  };
  const sizeOf = (hex = '') => ({ length: Math.ceil(hex.length / 3) });
  const reply = {
    plan:
      silence == null
        ? { kind: 'send', steps: steps.map((step) => ({ ...step, bytes: sizeOf(step.bytes) })) }
        : { kind: 'silence' },
    ...{ report: { steps }, acted: faults ?? [], requestedAt: requestedUs / 1000 },
  };
  return { ...about, bytes: sizeOf(event.bytes), isRest: false, ...reply } as unknown as NewEvent;
}
