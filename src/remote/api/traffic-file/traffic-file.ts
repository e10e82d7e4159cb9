import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { TrafficFileDefinition } from '../../../files/config/configuration.js';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import type { Encoding } from './encoding.js';
import { NumberedFiles } from './numbered-files.js';

/**
 * Interval between two writes, in ms. Writes wear out flash; what came since the last write is lost if the
 * process is killed.
 */
const WRITE_INTERVAL_MS = 1000;
/** Longest time in ms to encode events before the lines get a turn. */
const SLICE_MS = 2;
/** Most bytes that are encoded for one write. While a disk is full, nothing more waits besides the stream. */
const MAX_BATCH = 8 * 2 ** 20;

/** The progress of writing. */
export interface TrafficFileStatus {
  readonly definition: TrafficFileDefinition;
  /** Path of the file that is being written; undefined if there is none yet. */
  readonly path: string | undefined;
  /** Why nothing can be written at the moment; undefined if there is no problem. */
  readonly problem: string | undefined;
  /** Number of events that the stream had given up before they were written. */
  readonly missed: number;
}

/** Writes the traffic to files as it happens, with one write a second. The stream is the only queue. */
export class TrafficFile {
  readonly #definition: TrafficFileDefinition;
  readonly #stream: KeptEvents;
  readonly #newEncoding: () => Encoding;
  readonly #files: NumberedFiles;
  readonly #log: Logger;
  readonly #refresh: () => Promise<void>;
  readonly #cursor: TrafficCursor;
  readonly #stopping = new AbortController();
  #encoding: Encoding | undefined;
  /** Encoded bytes that the disk has refused. */
  #unwritten: Uint8Array | undefined;
  /** An event that was read and does not fit into the open file. */
  #held: TrafficEvent | undefined;
  #problem: string | undefined;
  /** Number of missed events that the files have reported. */
  #reported = 0;
  #ended: Promise<void> = Promise.resolve();

  /**
   * Writes events from this moment on, once `start` has opened a file.
   * @param refresh makes `lines` current
   */
  constructor(
    definition: TrafficFileDefinition,
    stream: KeptEvents,
    newEncoding: () => Encoding,
    log: Logger,
    refresh: () => Promise<void>,
    files = new NumberedFiles(definition.directory, definition.format, definition.files),
  ) {
    this.#definition = definition;
    this.#stream = stream;
    this.#newEncoding = newEncoding;
    this.#log = log;
    this.#refresh = refresh;
    this.#files = files;
    this.#cursor = new TrafficCursor(stream, {}, stream.last);
  }

  get status(): TrafficFileStatus {
    const [definition, problem, { missed }] = [this.#definition, this.#problem, this.#cursor];
    return { definition, path: this.#files.path, problem, missed };
  }

  /** Opens the first file. @returns why that is not possible; undefined on success */
  async start(): Promise<string | undefined> {
    try {
      await this.#refresh();
      await this.#beginFile();
    } catch (error) {
      return (error as Error).message;
    }
    this.#ended = this.#run();
    return undefined;
  }

  /** Writes the rest, and closes the file. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#writeNew();
      await wait(WRITE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
    await this.#writeNew();
    await this.#files.close().catch(() => undefined);
  }

  /** Writes the present content of the stream: with one write, and one more for each file that is begun. */
  async #writeNew(): Promise<void> {
    const until = this.#stream.last;
    try {
      await this.#refresh();
      await this.#leaveLostFile();
      do {
        if (!this.#unwritten) {
          if (this.#held || !this.#encoding) await this.#beginFile();
          this.#unwritten = await this.#encodeNew(until);
        }
        if (this.#unwritten.length > 0) await this.#files.append(this.#unwritten);
        this.#unwritten = undefined;
      } while (this.#held);
      this.#reportProblem(undefined);
    } catch (error) {
      this.#reportProblem((error as Error).message);
    }
  }

  /**
   * Leaves a file that was removed or moved: the next one is begun. Bytes that a disk has refused still
   * belong to the old one.
   */
  async #leaveLostFile(): Promise<void> {
    if (!this.#encoding || this.#unwritten || (await this.#files.isInPlace())) return;
    const { directory } = this.#definition;
    const lost = this.#files.path;
    this.#encoding = undefined;
    this.#log.warn({ directory }, `${lost} was removed or moved: the traffic goes on in the next file`);
  }

  async #beginFile(): Promise<void> {
    this.#encoding = undefined;
    await this.#files.begin();
    this.#encoding = this.#newEncoding();
  }

  /** The next bytes of the open file: at most one batch, and at most what fits into the file. */
  async #encodeNew(until: number): Promise<Uint8Array> {
    const encoding = this.#encoding as Encoding;
    const pieces = this.#files.length === 0 ? [encoding.header()] : [];
    let length = pieces[0]?.length ?? 0;
    let startedAt = performance.now();
    for (const event of this.#events(until)) {
      const bytes = [this.#encodeMissed(encoding), event ? encoding.encode(event) : NOTHING];
      const added = bytes.reduce((sum, each) => sum + each.length, 0);
      // An empty file takes its first event whatever the length of it.
      if (pieces.length > 1 && this.#files.length + length + added > this.#definition.size) {
        this.#held = event;
        break;
      }
      pieces.push(...bytes);
      length += added;
      if (length >= MAX_BATCH) break;
      if (performance.now() - startedAt < SLICE_MS) continue;
      await nextTurn();
      startedAt = performance.now();
    }
    return Buffer.concat(pieces);
  }

  *#events(until: number): Generator<TrafficEvent | undefined> {
    const held = this.#held;
    this.#held = undefined;
    if (held) yield held;
    yield* this.#cursor.events(until);
  }

  #encodeMissed(encoding: Encoding): Uint8Array {
    const { missed } = this.#cursor;
    const count = missed - this.#reported;
    this.#reported = missed;
    return count > 0 ? encoding.missed(count) : NOTHING;
  }

  /** Logs a problem once, and its end once. */
  #reportProblem(problem: string | undefined): void {
    const before = this.#problem;
    this.#problem = problem;
    const { directory } = this.#definition;
    if (problem !== undefined && before === undefined) {
      this.#log.error({ directory }, `traffic is not being written: ${problem}`);
    }
    if (problem === undefined && before !== undefined) {
      this.#log.info({ directory, missed: this.#cursor.missed }, 'traffic is being written again');
    }
  }
}

const NOTHING = new Uint8Array();
