import type { Recorded } from '../../testing/report/html.js';
import type { Event } from './views/traffic/chunks.js';

/** The content of this page if it is a file. Undefined on a page that came from a simulator. */
export const recorded: Recorded | undefined = readRecorded();

function readRecorded(): Recorded | undefined {
  const text = globalThis.document?.getElementById('recorded')?.textContent;
  return text ? (JSON.parse(text) as Recorded) : undefined;
}

/** The events of the file, oldest first. */
export const recordedEvents: readonly Event[] = [
  ...new Map(
    (
      recorded?.events ??
      recorded?.reports.flatMap(({ findings }) => findings.flatMap(({ frames }) => frames)) ??
      []
    ).map((event) => [event.seq, event]),
  ).values(),
].sort((a, b) => a.seq - b.seq);

/** The devices whose registers are in the file, in the order of its reports. */
export const recordedDevices = recorded?.reports.flatMap(({ registers }) => registers?.devices ?? []) ?? [];

/** The total duration of the events, in s. */
export const recordedSeconds =
  ((recordedEvents.at(-1)?.monotonicUs ?? 0) - (recordedEvents[0]?.monotonicUs ?? 0)) / 1e6;

/** Above 19200 baud, where t3.5 is 1.75 ms, a character takes less than this (Serial Line V1.02, 2.5.1.1). */
const FAST_CHARACTER_MS = 0.5;
const FAST_T35_MS = 1.75;
const T35_CHARACTERS = 3.5;

/** The character time of each line, in ms, as far as its events show it. */
const characterTimes = new Map<string, number | undefined>();
for (const { line, pauseUs, pauseCharacters } of recordedEvents) {
  const known = pauseUs && pauseCharacters ? pauseUs / pauseCharacters / 1000 : undefined;
  characterTimes.set(line, characterTimes.get(line) ?? known);
}

/** The lines of the file, with their times as far as known. */
export const recordedLines = Array.from(characterTimes, ([name, characterTime]) => {
  // Only units with events: the others may have been polled as well.
  const seen = recordedEvents.flatMap(({ line, unit }) =>
    line === name && unit !== undefined ? [unit] : [],
  );
  const units = Object.fromEntries(
    [...new Set(seen)].flatMap((unit) => {
      const of = (served: string) =>
        recordedDevices.find(({ device }) => device.lines[name]?.includes(served));
      const found = of(String(unit)) ?? of('*');
      return found ? [[unit, found.device.name]] : [];
    }),
  );
  const line = { name, settings: {}, units, manners: {}, reason: null };
  if (characterTime === undefined) return { ...line, times: {} };
  const t35 = characterTime < FAST_CHARACTER_MS ? FAST_T35_MS : T35_CHARACTERS * characterTime;
  return { ...line, times: { characterTime, t35 } };
});
