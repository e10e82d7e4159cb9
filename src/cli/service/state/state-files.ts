import { createHash } from 'node:crypto';
import { promises } from 'node:fs';
import { join } from 'node:path';
import { HERE, type Platform } from '../../../common/platform.js';
import { makeDirectory } from '../../../document/make-directory.js';
import { loadLibc } from '../../../modbus/transport/port/libc.js';
import { lockHolder } from '../../../modbus/transport/port/port-path.js';
import { readShort } from '../../../modbus/transport/read-short.js';
import { markText, readMark, reportEnd, whySetAside } from './start-mark.js';
import { claim, foreignFiles, isEndedState, isStateFile, MARK_FILE, UNFINISHED } from './state-names.js';

/** The part of `node:fs/promises` that is used here. Tests replace it to simulate a full disk. */
export type FileSystem = Pick<typeof promises, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm'>;

/** Longest file in a state, in bytes. A file has at most 1 MB per list of registers, so a longer one is damaged. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Texts are collected into chunks of this many characters, so that each write is short. */
const CHUNK = 32 * 1024;

/** File mode: the owner and the group may read. */
const MODE = 0o640;
/** File mode: only the owner may read. */
const PRIVATE_MODE = 0o600;

/** The start of a file: its SHA-256, computed with zeros instead of the digest. */
const SUM_HEAD = '{"sum":"';
const SUM_LENGTH = 64;
const SUM_END = '",';
const NO_SUM = '0'.repeat(SUM_LENGTH);

/** The result of opening the directory of a state. */
interface OpenedFiles {
  readonly names: readonly string[];
  /** Why the directory can't be locked; undefined if it is locked. */
  readonly note: string | undefined;
  /** Why the state must not be used: earlier starts with it failed. Undefined if it may be used. */
  readonly ended: string | undefined;
  /** The names of the folders that contain states set aside by earlier starts. */
  readonly setAside: readonly string[];
}

/** The files of a state in their directory. Functions throw the system's error, unless they say otherwise. */
export class StateFiles {
  readonly directory: string;
  readonly #fs: FileSystem;
  readonly #platform: Platform;
  #locked: promises.FileHandle | undefined;
  #isOpen = false;
  #isStarted = false;
  #marked: Promise<void> = Promise.resolve();
  #endReport = (): void => {};

  constructor(directory: string, fs: FileSystem = promises, platform = HERE) {
    this.directory = directory;
    this.#fs = fs;
    this.#platform = platform;
  }

  /**
   * Creates the directory, locks it for this process, and removes files that a killed program left
   * unfinished. Throws if another process holds the lock, or if files of other programs are in the way.
   * @param isService whether the service manager created the directory for this program
   */
  async open(isService = false): Promise<OpenedFiles> {
    makeDirectory(this.directory, 0o750);
    const note = await this.#lock();
    try {
      const all = await this.#fs.readdir(this.directory);
      const foreign = await foreignFiles(this.directory, all, isService);
      if (foreign !== undefined) throw new Error(foreign);
      for (const name of all)
        if (isStateFile(name.slice(0, -UNFINISHED.length)) && name.endsWith(UNFINISHED))
          await this.remove(name);
      const ended = await this.#begin();
      return { names: all.filter(isStateFile), note, ended, setAside: all.filter(isEndedState) };
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** Records that a start begins. @returns a message saying why the state must not be used */
  async #begin(): Promise<string | undefined> {
    const read = await this.read(MARK_FILE);
    const earlier = readMark('text' in read ? read.text : undefined);
    const why = whySetAside(earlier);
    this.#isOpen = true;
    if (why === undefined) await this.#countStart(earlier.ended + 1);
    return why;
  }

  /** A full disk must not prevent a start. */
  #countStart(ended: number): Promise<void> {
    return this.#mark(ended).catch(() => {});
  }

  /** @param ended as in the mark; 0 once the start has succeeded */
  #mark(ended: number): Promise<void> {
    // One at a time, because the program may be stopped while the first is being written.
    this.#marked = this.#marked
      .catch(() => {})
      .then(async () => {
        if (this.#isStarted) return;
        this.#endReport();
        this.#endReport = () => {};
        this.#isStarted = ended === 0;
        const written = this.#write(MARK_FILE, [markText(ended)], PRIVATE_MODE);
        // A completed start must not count as failed, even if the disk is full.
        if (this.#isStarted) return written.catch(() => this.remove(MARK_FILE));
        await written;
        this.#endReport = reportEnd(this.directory);
      });
    return this.#marked;
  }

  /** The names of the files that exist now. Creates the directory again if it has been removed. */
  async present(): Promise<ReadonlySet<string>> {
    makeDirectory(this.directory, 0o750);
    return new Set(await this.#fs.readdir(this.directory));
  }

  /** The text of a file, or an error message. */
  async read(name: string): Promise<{ readonly text: string } | { readonly problem: string }> {
    try {
      return checked(await readShort(this.#path(name), MOST_BYTES));
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  /** Writes a file atomically: if the program is killed, the file has either its old or its new content. */
  write(name: string, pieces: Iterable<string>): Promise<void> {
    return this.#write(name, pieces, MODE);
  }

  async #write(name: string, pieces: Iterable<string>, mode: number): Promise<void> {
    const path = this.#path(name);
    const unfinished = `${path}${UNFINISHED}`;
    await claim(path);
    await claim(unfinished);
    try {
      const file = await this.#fs.open(unfinished, 'w', mode);
      try {
        const sum = createHash('sha256');
        for (const chunk of chunksOf(withSum(pieces))) {
          sum.update(chunk);
          await file.writeFile(chunk);
        }
        await file.write(sum.digest('hex'), SUM_HEAD.length);
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#fs.rename(unfinished, path);
    } catch (error) {
      // On a full disk, an unfinished file would take the space that the next attempt needs.
      await this.#fs.rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await claim(this.#path(name));
    await this.#fs.rm(this.#path(name), { force: true });
  }

  /** Records that the state did not break the start: the program has started, or a user stopped it. */
  async started(): Promise<void> {
    if (this.#isOpen) await this.#mark(0);
    else this.#isStarted = true;
  }

  /** Records that the start is over, and releases the lock on the directory. */
  async close(): Promise<void> {
    await this.started();
    await this.release();
  }

  /** Releases the lock on the directory, like the kernel does when the process is killed. */
  async release(): Promise<void> {
    await this.#locked?.close();
    this.#locked = undefined;
  }

  /** Locks the directory. The kernel releases the lock however the process ends. */
  async #lock(): Promise<string | undefined> {
    const loaded = await loadLibc();
    if (!loaded.ok) return `can't keep other programs out of ${this.directory}: ${loaded.error}`;
    const file = await this.#fs.open(this.directory, 'r');
    if (loaded.libc.lockNow(file.fd) < 0) {
      await file.close();
      const { pid } = lockHolder(this.directory) ?? {};
      const holder = pid === undefined ? 'another program' : `process ${pid}`;
      throw new Error(`${holder} keeps its state there; stop it, or name another directory`);
    }
    this.#locked = file;
    return undefined;
  }

  /** Flushes the directory, so that new names survive a power failure. Windows can't open a directory. */
  async sync(): Promise<void> {
    if (this.#platform.isWindows) return;
    const directory = await this.#fs.open(this.directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  /**
   * Renames a file, so that it is kept but not read again.
   * @returns its new name, or a message saying why it could not be renamed
   */
  async setAside(name: string, suffix: string): Promise<string> {
    const next = `${name}.${suffix}`;
    try {
      await this.#fs.rename(this.#path(name), this.#path(next));
      return `kept as ${next}`;
    } catch (error) {
      return `can't be renamed: ${(error as Error).message}`;
    }
  }

  /**
   * Moves the files of a state that broke earlier starts into a separate folder, which can be used as a state
   * again. Throws if they can't be moved, because they would be overwritten.
   * @returns the path of the folder; undefined if there are no files
   */
  async setAsideTogether(names: readonly string[], time: string): Promise<string | undefined> {
    const folder = names.length > 0 ? this.#path(`ended-${time}`) : undefined;
    if (folder !== undefined) await this.#fs.mkdir(folder, { mode: 0o750 });
    for (const name of names) await this.#fs.rename(this.#path(name), join(folder ?? '', name));
    // Only now: if the program is killed earlier, the next start sets the rest aside.
    await this.#countStart(1);
    return folder;
  }

  #path(name: string): string {
    return join(this.directory, name);
  }
}

/** Writes a placeholder for the checksum before the text of a file. Each file is an object with at least one member. */
function* withSum(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst ? `${SUM_HEAD}${NO_SUM}${SUM_END}${piece.slice(1)}` : piece;
    isFirst = false;
  }
}

/** Verifies and removes the checksum of a file. Files from version 0.1 have none and are not verified. */
function checked(text: string): { readonly text: string } | { readonly problem: string } {
  if (!text.startsWith(SUM_HEAD)) return { text };
  const end = SUM_HEAD.length + SUM_LENGTH;
  const rest = text.slice(end);
  const sum = createHash('sha256').update(SUM_HEAD).update(NO_SUM).update(rest).digest('hex');
  return text.slice(SUM_HEAD.length, end) === sum && rest.startsWith(SUM_END)
    ? { text: `{${rest.slice(SUM_END.length)}` }
    : { problem: 'was changed after it was written: its checksum does not match' };
}

function* chunksOf(pieces: Iterable<string>): Generator<string> {
  let parts: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    parts.push(piece);
    length += piece.length;
    if (length < CHUNK) continue;
    yield parts.join('');
    parts = [];
    length = 0;
  }
  yield parts.join('');
}
