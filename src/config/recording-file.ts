import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { lastBefore } from '../signals/last-before.js';
import { type RecordingIndex, RecordingScanner, readBlock } from '../signals/recording/scan.js';
import type { Track, TrackRows, TrackSource } from '../signals/recording/track.js';

export type OpenedRecording =
  | { readonly ok: true; readonly openTrack: () => Track }
  | { readonly ok: false; readonly message: string };

const CHUNK = 256 * 1024;

/** How often, in ms, a recording checks its file for changes. Reads in between are only a lookup. */
const CHECK_INTERVAL = 1000;

/**
 * Reads and checks a whole CSV file once. Only the positions of its rows are kept in memory.
 * @param now real time in ms, never going back.
 */
export function openRecording(source: TrackSource, now: () => number): OpenedRecording {
  const fail = (message: string) => ({ ok: false, message: `${source.file}: ${message}` }) as const;
  try {
    return withFile(source.file, (file) => {
      const scanner = new RecordingScanner(source);
      const chunk = new Uint8Array(CHUNK);
      while (true) {
        const length = readSync(file, chunk);
        if (length === 0 || !scanner.feed(chunk.subarray(0, length))) break;
      }
      const scanned = scanner.end();
      if (!scanned.ok) return fail(`line ${scanned.line}: ${scanned.message}`);
      const { mtimeMs } = fstatSync(file);
      return {
        ok: true,
        openTrack: () => new RecordingTrack(source.file, scanned.index, mtimeMs, now),
      };
    });
  } catch (error) {
    return fail((error as Error).message);
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
  #rows: TrackRows | string = '';
  #checked = Number.NEGATIVE_INFINITY;

  constructor(file: string, index: RecordingIndex, modified: number, now: () => number) {
    this.length = index.length;
    this.#file = file;
    this.#index = index;
    this.#modified = modified;
    this.#now = now;
  }

  rowsAt(time: number): TrackRows | string {
    const block = lastBefore(this.#index.times, time);
    if (block !== this.#block || this.#now() - this.#checked >= CHECK_INTERVAL) {
      this.#rows = this.#read(block);
      this.#block = block;
      this.#checked = this.#now();
    }
    return this.#rows;
  }

  #read(block: number): TrackRows | string {
    const { offsets } = this.#index;
    const start = offsets[block] as number;
    const bytes = new Uint8Array((offsets[block + 1] as number) - start);
    try {
      return withFile(this.#file, (file) => {
        if (fstatSync(file).mtimeMs !== this.#modified)
          return `${this.#file} has changed since it was opened`;
        readSync(file, bytes, { position: start });
        return readBlock(this.#index, bytes);
      });
    } catch (error) {
      return `${this.#file} can't be read: ${(error as Error).message}`;
    }
  }
}

function withFile<Result>(path: string, use: (file: number) => Result): Result {
  const file = openSync(path, 'r');
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}
