import { BAD_REQUEST } from '../../common/rest-client/client.js';
import type { Recorded } from '../../testing/report/html.js';
import type { Event } from './views/traffic/chunks.js';
import { pageOf } from './views/traffic/recorded-page.js';

/** What this page holds in place of a simulator: it is a file. Undefined on a page that came from one. */
export const recorded: Recorded | undefined = readRecorded();

function readRecorded(): Recorded | undefined {
  const text = globalThis.document?.getElementById('recorded')?.textContent;
  return text ? (JSON.parse(text) as Recorded) : undefined;
}

/** The events of the file, the oldest first. */
export const recordedEvents: readonly Event[] = [
  ...new Map(
    (
      recorded?.events ??
      recorded?.reports.flatMap(({ findings }) => findings.flatMap(({ frames }) => frames)) ??
      []
    ).map((event) => [event.seq, event]),
  ).values(),
].sort((a, b) => a.seq - b.seq);

/** Above 19200 baud t3.5 is 1.75 ms; a character takes less than this there (Serial Line V1.02, 2.5.1.1). */
const FAST_CHARACTER_MS = 0.5;
const FAST_T35_MS = 1.75;
const T35_CHARACTERS = 3.5;

/** The lines of the file, with their times as far as their events show them. */
export const recordedLines = [...new Set(recordedEvents.map(({ line }) => line))].map((name) => {
  const known = recordedEvents.find(
    ({ line, pauseUs, pauseCharacters }) => line === name && pauseUs && pauseCharacters,
  );
  if (!known) return { name, settings: {}, times: {} };
  const characterTime = (known.pauseUs ?? 0) / (known.pauseCharacters ?? 1) / 1000;
  const t35 = characterTime < FAST_CHARACTER_MS ? FAST_T35_MS : T35_CHARACTERS * characterTime;
  return { name, settings: {}, times: { characterTime, t35 } };
});

/** Answers a request from what the file holds, as the simulator would. */
export function answered(path: string): Response {
  const { pathname, searchParams } = new URL(path, 'http://file');
  if (pathname === '/lines') return Response.json({ lines: recordedLines });
  if (pathname === '/traffic') {
    const page = pageOf(recordedEvents, searchParams);
    return 'message' in page
      ? Response.json({ detail: page.message, problems: [page] }, { status: BAD_REQUEST })
      : Response.json(page);
  }
  return Response.json(
    { detail: 'This page is a saved file: there is no simulator behind it.' },
    { status: 404 },
  );
}
