import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { failure, type Result, success } from '../common/result.js';
import {
  lastBefore,
  type RecordingIndex,
  RecordingScanner,
  readBlock,
} from '../device/signals/recording/scan.js';
import type { Track, TrackRows, TrackSource } from '../device/signals/signal.js';

/** A function that opens the track of a recording, or what is wrong with the file. */
export type OpenedRecording = Result<() => Track>;

/** Opens a recording, whose path may be relative. */
export type OpenRecording = (source: TrackSource) => OpenedRecording;

/** How many more bytes of recordings may be read. */
export interface ReadingLimit {
  readonly most: number;
  left: number;
}

/** The number of bytes read and checked without a pause. With rows of 24 bytes, that takes about half a millisecond. */
const CHUNK = 16 * 1024;

/** How often, in ms, a recording checks its file for changes. Between two checks, a read is only a lookup. */
const CHECK_INTERVAL = 1000;

/**
 * Creates a function that opens recordings of any length, without pauses. Relative paths are relative to
 * `directory`.
 */
export function recordingsIn(directory: string): OpenRecording {
  return ({ file, ...source }) =>
    openRecording({ ...source, file: resolve(directory, file) }, () => performance.now());
}

/**
 * Reads and checks a whole CSV file once. Only the positions of its rows are kept in memory.
 * @param now real time in ms, never going back
 */
export function openRecording(source: TrackSource, now: () => number): OpenedRecording {
  const opening = openingRecording(source, now);
  for (;;) {
    const { done, value } = opening.next();
    if (done) return value;
  }
}

/** Does the same as `openRecording`, in small pieces: yields so that the lines of a running simulator can be served. */
export function* openingRecording(
  source: TrackSource,
  now: () => number,
  limit: ReadingLimit = { most: Infinity, left: Infinity },
): Generator<void, OpenedRecording> {
  const fail = (message: string) => failure(`${source.file}: ${message}`);
  let file: number | undefined;
  try {
    file = openRegular(source.file);
    const scanner = new RecordingScanner(source);
    const chunk = new Uint8Array(CHUNK);
    while (true) {
      const length = readSync(file, chunk);
      limit.left -= length;
      if (limit.left < 0) return fail(`expected at most ${limit.most} bytes of recordings in one request`);
      if (length === 0 || !scanner.feed(chunk.subarray(0, length))) break;
      yield;
    }
    const scanned = scanner.end();
    if (!scanned.ok) return fail(`line ${scanned.line}: ${scanned.error}`);
    const { mtimeMs } = fstatSync(file);
    return success(() => new RecordingTrack(source.file, scanned.index, mtimeMs, now));
  } catch (error) {
    return fail((error as Error).message);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A recording in a file. One block of rows is in memory at a time. */
class RecordingTrack implements Track {
  readonly length: number;
  readonly #file: string;
  readonly #index: RecordingIndex;
  readonly #modified: number;
  readonly #now: () => number;
  #block = -1;
  #rows: Result<TrackRows> = failure('');
  #checked = Number.NEGATIVE_INFINITY;

  constructor(file: string, index: RecordingIndex, modified: number, now: () => number) {
    this.length = index.length;
    this.#file = file;
    this.#index = index;
    this.#modified = modified;
    this.#now = now;
  }

  rowsAt(time: number): Result<TrackRows> {
    const block = lastBefore(this.#index.times, time);
    if (block !== this.#block || this.#now() - this.#checked >= CHECK_INTERVAL) {
      this.#rows = this.#read(block);
      this.#block = block;
      this.#checked = this.#now();
    }
    return this.#rows;
  }

  #read(block: number): Result<TrackRows> {
    const { offsets } = this.#index;
    const start = offsets[block] as number;
    const bytes = new Uint8Array((offsets[block + 1] as number) - start);
    let file: number | undefined;
    try {
      file = openRegular(this.#file);
      if (fstatSync(file).mtimeMs !== this.#modified)
        return failure(`${this.#file} has changed since it was opened`);
      readSync(file, bytes, { position: start });
      return readBlock(this.#index, bytes);
    } catch (error) {
      return failure(`${this.#file} can't be read: ${(error as Error).message}`);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** Opens a regular file for reading. Throws for anything else: reading from a pipe or a device could wait forever. */
function openRegular(path: string): number {
  // Without O_NONBLOCK, even opening a pipe waits until some program writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error('is not a regular file');
}
