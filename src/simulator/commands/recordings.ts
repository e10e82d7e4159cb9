import { resolve } from 'node:path';
import { failure } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { inSlices } from '../../common/work.js';
import { signalSchema } from '../../device/signals/kinds.js';
import type { TrackSource } from '../../device/signals/signal.js';
import {
  type OpenedRecording,
  type OpenRecording,
  openingRecording,
  type ReadingLimit,
} from '../../document/recording-file.js';
import type { Simulator } from '../simulator.js';
import type { CommandContext } from './context.js';
import { whyNotIn } from './remote-files.js';

/**
 * Maximum number of bytes that one request may cause to be read. More takes seconds. Files of the
 * configuration may have any length.
 */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Opens the files that signals in a request body play, so that the body can then be read without waiting for
 * a file. The lines keep running. A client may name files in the directory of the configuration, and files
 * that are already in use: messages show file content, and a token must not give access to every file that
 * the program may read. Undefined for the owner, whose files are read at once.
 */
export async function openRecordings(
  { simulator, isOwner }: CommandContext,
  body: unknown,
): Promise<OpenRecording | undefined> {
  if (isOwner) return undefined;
  const { directory } = simulator;
  const limit: ReadingLimit = { most: MOST_BYTES, left: MOST_BYTES };
  const opened = new Map<string, OpenedRecording>();
  for (const source of sourcesIn(body)) {
    const key = keyOf(source);
    if (opened.has(key)) continue;
    const file = resolve(directory, source.file);
    const message = isPlayed(simulator, file)
      ? undefined
      : await whyNotIn(directory, file, 'where REST may read recordings');
    const opening = () => openingRecording({ ...source, file }, () => performance.now(), limit);
    opened.set(key, message === undefined ? await inSlices(opening()) : failure(`${file}: ${message}`));
  }
  return (source) => opened.get(keyOf(source)) ?? failure(`${source.file}: was not opened`);
}

/** True if the signal of a running device plays the file. */
function isPlayed({ devices, directory }: Simulator, file: string): boolean {
  return Array.from(devices.values()).some(({ points }) =>
    [...points.all.map(({ placedSignal }) => placedSignal), ...points.feeds.map(({ signal }) => signal)].some(
      (signal) =>
        signal?.definition.plays !== undefined && resolve(directory, signal.definition.plays.file) === file,
    ),
  );
}

/**
 * The recordings of all signals anywhere in `body`. Uses a list of places to visit instead of recursion,
 * because a body may be nested 100,000 deep.
 */
function sourcesIn(body: unknown): TrackSource[] {
  const found: TrackSource[] = [];
  const waiting = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    waiting.push(...Object.values(value));
    if (!('playback' in value)) continue;
    const source = new At(value, new Findings()).check(signalSchema)?.plays;
    if (source) found.push(source);
  }
  return found;
}

function keyOf({ file, time, column }: TrackSource): string {
  return JSON.stringify([file, time, column]);
}
