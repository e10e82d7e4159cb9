import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { TrafficFileDefinition } from '../../document/configuration.js';
import { NO_BYTES } from '../../modbus/protocol/bytes.js';
import type { LineMap } from '../../remote/api/line-map.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import { TrafficCursor } from '../../simulator/traffic/reading.js';
import type { Encoding } from './encoding.js';

const OWN = /^traffic-(\d{6,})\.(?:ndjson|pcapng)$/;

type DiskFile = Pick<FileHandle, 'write' | 'truncate' | 'close' | 'stat'>;

interface OpenFile {
  readonly path: string;
  readonly handle: DiskFile;
}

/** The node:fs/promises functions used here. Tests replace them. */
export interface Disk {
  mkdir(path: string): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  open(path: string, flags: string): Promise<DiskFile>;
  rm(path: string): Promise<void>;
  stat(path: string): Promise<{ readonly dev: number; readonly ino: number }>;
}

const DISK: Disk = { mkdir, readdir, open, rm, stat };

/**
 * Files `traffic-000001.ndjson`, `traffic-000002.ndjson` … in a directory. Numbering continues after the
 * highest existing number.
 */
export class NumberedFiles {
  readonly #directory: string;
  readonly #extension: string;
  readonly #most: number;
  readonly #disk: Disk;
  #current: OpenFile | undefined;
  #length = 0;

  /** @param most maximum number of files in the directory; the oldest are removed to make room */
  constructor(directory: string, extension: string, most: number, disk: Disk = DISK) {
    this.#directory = directory;
    this.#extension = extension;
    this.#most = most;
    this.#disk = disk;
  }

  /** The path of the open file; undefined if none is open. */
  get path(): string | undefined {
    return this.#current?.path;
  }

  /** Length of the open file, in bytes. */
  get length(): number {
    return this.#length;
  }

  /**
   * Whether the path still leads to the open file. It may have been removed or moved, which a write does not
   * notice.
   */
  async isInPlace(): Promise<boolean> {
    const { handle, path } = this.#current as OpenFile;
    const [open, found] = await Promise.all([
      handle.stat(),
      this.#disk.stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw error;
      }),
    ]);
    return found?.ino === open.ino && found.dev === open.dev;
  }

  /**
   * Closes the open file, removes the oldest files, and creates the next one. Rejects if the disk refuses.
   */
  async begin(): Promise<void> {
    await this.close();
    await makeDirectory(this.#directory, this.#disk);
    const old = (await this.#disk.readdir(this.#directory))
      .flatMap((name) => {
        const number = OWN.exec(name)?.[1];
        return number === undefined ? [] : [{ name, number: Number(number) }];
      })
      .sort((a, b) => a.number - b.number);
    const next = (old.at(-1)?.number ?? 0) + 1;
    const own: string[] = [];
    for (const { name } of old) {
      const path = join(this.#directory, name);
      if (await isWritten(path)) own.push(path);
    }
    for (const path of own.slice(0, Math.max(0, own.length - this.#most + 1))) await this.#disk.rm(path);
    const name = `traffic-${String(next).padStart(6, '0')}.${this.#extension}`;
    const path = join(this.#directory, name);
    this.#current = { handle: await this.#disk.open(path, 'wx'), path };
  }

  /** Appends bytes to the open file. If it rejects, none of them were written. */
  async append(bytes: Uint8Array): Promise<void> {
    const { handle } = this.#current as OpenFile;
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await handle.write(bytes, done, bytes.length - done, this.#length + done)).bytesWritten;
      }
      this.#length += bytes.length;
    } catch (error) {
      // Half an event would make the rest of the file unreadable.
      await handle.truncate(this.#length).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { handle } = this.#current ?? {};
    this.#current = undefined;
    this.#length = 0;
    await handle?.close();
  }
}

/** The first bytes of each `Encoding`: an event, or a capture's section header with the name of this program. */
const BEGINNINGS = /^(\{"(seq|kind)":|\n\r\r\n[\s\S]{0,200}modbus-sim)/;
const BEGINNING_BYTES = 256;

/** Whether a file is empty or was written by this program. Other programs may have files with these names. */
async function isWritten(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!file) return false;
  try {
    if (!(await file.stat()).isFile()) return false;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return bytesRead === 0 || BEGINNINGS.test(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Creates a directory and its parents. Node's `recursive` option never returns for a path below /proc. */
async function makeDirectory(path: string, disk: Disk): Promise<void> {
  try {
    await disk.mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), disk);
    await disk.mkdir(path);
  }
}

/**
 * Interval between two writes, in ms. Writes wear out flash memory. Events since the last write are lost if
 * the process is killed.
 */
const WRITE_INTERVAL_MS = 1000;
/** Longest time in ms to encode events before the lines get a turn. */
const ENCODING_SLICE_MS = 2;
/** Maximum number of bytes encoded for one write. While the disk is full, nothing is queued except in the stream. */
const MAX_BATCH = 8 * 2 ** 20;

/** The progress of writing. */
interface TrafficFileStatus {
  readonly definition: TrafficFileDefinition;
  /** Path of the open file; undefined if there is none yet. */
  readonly path: string | undefined;
  /** Why writing is currently impossible; undefined if there is no problem. */
  readonly problem: string | undefined;
  /** Number of events that the stream dropped before they were written. */
  readonly missed: number;
}

/** Writes the traffic to files as it happens, with one write a second. The stream is the only queue. */
export class TrafficFile {
  readonly #definition: TrafficFileDefinition;
  readonly #stream: KeptEvents;
  readonly #newEncoding: () => Encoding;
  readonly #files: NumberedFiles;
  readonly #log: FastifyBaseLogger;
  readonly #refresh: () => Promise<void>;
  readonly #intervalMs: number;
  readonly #cursor: TrafficCursor;
  readonly #stopping = new AbortController();
  #encoding: Encoding | undefined;
  /** Encoded bytes that could not be written to the disk. */
  #unwritten: Uint8Array | undefined;
  /** An event that was read but does not fit into the open file. */
  #held: TrafficEvent | undefined;
  #problem: string | undefined;
  /** Number of missed events recorded in the files. */
  #reported = 0;
  #ended: Promise<void> = Promise.resolve();

  /**
   * Writes events from this moment on, after `start` has opened a file.
   * @param refresh updates `lines`
   */
  constructor(
    definition: TrafficFileDefinition,
    stream: KeptEvents,
    newEncoding: () => Encoding,
    log: FastifyBaseLogger,
    refresh: () => Promise<void>,
    files = new NumberedFiles(definition.directory, definition.format, definition.files),
    intervalMs = WRITE_INTERVAL_MS,
  ) {
    this.#intervalMs = intervalMs;
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

  /** Opens the first file. @returns why it can't; undefined on success */
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

  /** Writes the remaining events, and closes the file. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#writeNew();
      await wait(this.#intervalMs, undefined, { signal }).catch(() => undefined);
    }
    await this.#writeNew();
    await this.#files.close().catch(() => undefined);
  }

  /** Writes the current content of the stream, with one write per file. */
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
   * Abandons a file that was removed or moved, and begins the next one. Bytes that could not be written still
   * belong to the old file.
   */
  async #leaveLostFile(): Promise<void> {
    if (!this.#encoding || this.#unwritten || (await this.#files.isInPlace())) return;
    const { directory } = this.#definition;
    const lost = this.#files.path;
    this.#encoding = undefined;
    this.#log.warn({ directory }, `${lost} was removed or moved: the traffic continues in the next file`);
  }

  async #beginFile(): Promise<void> {
    this.#encoding = undefined;
    await this.#files.begin();
    this.#encoding = this.#newEncoding();
  }

  /** The next bytes for the open file: at most one batch, and no more than fits into the file. */
  async #encodeNew(until: number): Promise<Uint8Array> {
    const encoding = this.#encoding as Encoding;
    const pieces = this.#files.length === 0 ? [encoding.header()] : [];
    let length = pieces[0]?.length ?? 0;
    let startedAt = performance.now();
    for (const event of this.#events(until)) {
      const bytes = [this.#encodeMissed(encoding), event ? encoding.encode(event) : NO_BYTES];
      const added = bytes.reduce((sum, each) => sum + each.length, 0);
      // An empty file accepts its first event, however long.
      if (pieces.length > 1 && this.#files.length + length + added > this.#definition.size) {
        this.#held = event;
        break;
      }
      pieces.push(...bytes);
      length += added;
      if (length >= MAX_BATCH) break;
      if (performance.now() - startedAt < ENCODING_SLICE_MS) continue;
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
    return count > 0 ? encoding.missed(count) : NO_BYTES;
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

/** Starts and stops writing traffic, to one place at a time. */
export class TrafficFiles {
  readonly #stream: KeptEvents;
  readonly #lines: LineMap;
  readonly #log: FastifyBaseLogger;
  #current: TrafficFile | undefined;
  /** Resolves when the last request is done. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(stream: KeptEvents, lines: LineMap, log: FastifyBaseLogger) {
    this.#stream = stream;
    this.#lines = lines;
    this.#log = log;
  }

  /** The progress of writing; undefined if traffic is not being written. */
  get status(): TrafficFileStatus | undefined {
    return this.#current?.status;
  }

  /**
   * Writes to this place from now on, and stops writing to any other.
   * @returns why it can't; in that case nothing has changed
   */
  start(definition: TrafficFileDefinition): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const { ndjson, pcapng } = await import('./encoding.js');
      const newEncoding = () => (definition.format === 'pcapng' ? pcapng(this.#lines) : ndjson(this.#stream));
      const next = new TrafficFile(definition, this.#stream, newEncoding, this.#log, () =>
        this.#lines.refresh(),
      );
      const problem = await next.start();
      if (problem !== undefined) return problem;
      await this.#current?.stop();
      this.#current = next;
      return undefined;
    });
  }

  /** Writes the remaining events, and stops writing. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#current?.stop();
      this.#current = undefined;
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
