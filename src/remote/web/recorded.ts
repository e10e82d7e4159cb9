import type { Recorded } from '../../testing/report/html.js';
import { memberOf, type RecordedDevice } from '../../testing/report/recorded-registers.js';
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

/** The lines of some events, with what the events show: their times, and the devices of the units seen. */
export function linesOf(events: readonly Event[], devices: readonly RecordedDevice[]) {
  const seen = new Map<string, { characterTime?: number; readonly units: Set<number> }>();
  for (const { line, unit, pauseUs, pauseCharacters } of events) {
    const about = seen.get(line) ?? { units: new Set() };
    seen.set(line, about);
    if (pauseUs && pauseCharacters) about.characterTime ??= pauseUs / pauseCharacters / 1000;
    if (unit !== undefined) about.units.add(unit);
  }
  return Array.from(seen, ([name, { characterTime, units: numbers }]) => {
    const deviceOf = (served: string) =>
      devices.find(({ device }) => memberOf(device.lines, name)?.includes(served))?.device.name;
    const units = Object.fromEntries(
      Array.from(numbers, (unit) => [unit, deviceOf(String(unit)) ?? deviceOf('*')] as const).filter(
        (entry): entry is [number, string] => entry[1] !== undefined,
      ),
    );
    const line = { name, settings: {}, units, manners: {}, reason: null };
    if (characterTime === undefined) return { ...line, times: {} };
    const t35 = characterTime < FAST_CHARACTER_MS ? FAST_T35_MS : T35_CHARACTERS * characterTime;
    return { ...line, times: { characterTime, t35 } };
  });
}

/** The lines of the file. They show only units with events: others may have been polled as well. */
export const recordedLines = linesOf(recordedEvents, recordedDevices);
