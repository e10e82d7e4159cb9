import { createHash } from 'node:crypto';
import { promises } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../../files/config/make-directory.js';
import { loadLibc } from '../../../modbus/transport/port/libc.js';
import { lockHolder } from '../../../modbus/transport/port/port-path.js';
import { readShort } from '../../../modbus/transport/read-short.js';

/** The part of `node:fs/promises` that is used; tests pass a disk that is full. */
export type FileSystem = Pick<typeof promises, 'open' | 'readdir' | 'rename' | 'rm'>;

/** A file of a state takes at most 1 MB per list of registers; more is damage. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Pieces of text are gathered up to this size, so that each write takes little time. */
const CHUNK = 32 * 1024;

const UNFINISHED = '.tmp';
/** It is there while a program starts with the state, and has the number of the boot of the machine. */
const START = 'start';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** That of the boot takes 37 bytes. */
const LONGEST_ID = 100;

/** A file begins with the SHA-256 of itself, in whose place there are zeros then. */
const SUM_HEAD = '{"sum":"';
const SUM_LENGTH = 64;
const SUM_END = '",';
const NO_SUM = '0'.repeat(SUM_LENGTH);

/** The files of a state in their directory. Functions throw what the system says, unless they say otherwise. */
export class StateFiles {
  readonly directory: string;
  readonly #fs: FileSystem;
  #locked: promises.FileHandle | undefined;
  #isStarted = false;

  constructor(directory: string, fs: FileSystem = promises) {
    this.directory = directory;
    this.#fs = fs;
  }

  /**
   * Makes the directory, takes it for this process, and removes what a killed program left unfinished. Throws where another
   * process has it.
   * @returns the names of the files; `note` says why nothing keeps other processes out, where that is so; `hasEnded` is true
   * when the last start with these files has ended the program, and not the machine
   */
  async open(): Promise<{ names: string[]; note: string | undefined; hasEnded: boolean }> {
    makeDirectory(this.directory, 0o750);
    const note = await this.#lock();
    const boot = await idIn(BOOT_ID);
    const hasEnded = boot !== '' && (await idIn(this.#path(START))) === boot;
    // A full disk keeps no program from starting.
    if (!this.#isStarted) await promises.writeFile(this.#path(START), boot, { mode: 0o640 }).catch(() => {});
    const names = await this.#fs.readdir(this.directory);
    for (const name of names) if (name.endsWith(UNFINISHED)) await this.remove(name);
    return { names: names.filter((name) => name.endsWith('.json')), note, hasEnded };
  }

  /** The names of the files that are there now. The directory is made again where somebody has removed it. */
  async present(): Promise<ReadonlySet<string>> {
    makeDirectory(this.directory, 0o750);
    return new Set(await this.#fs.readdir(this.directory));
  }

  /** The text of a file, or what is wrong with the file in words. */
  async read(name: string): Promise<{ readonly text: string } | { readonly problem: string }> {
    try {
      return checked(await readShort(this.#path(name), MOST_BYTES));
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  /** Writes a file as a whole: it has the old content or the new one, whenever the program is killed. */
  async write(name: string, pieces: Iterable<string>): Promise<void> {
    const path = this.#path(name);
    const unfinished = `${path}${UNFINISHED}`;
    try {
      const file = await this.#fs.open(unfinished, 'w', 0o640);
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
      // On a full disk, what is unfinished takes the room that the next attempt needs.
      await this.#fs.rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#fs.rm(this.#path(name), { force: true });
  }

  /** The program has started with this state, or has not for another reason than the state: somebody has stopped it. */
  async started(): Promise<void> {
    this.#isStarted = true;
    await this.remove(START);
  }

  /** Lets another process have the directory. */
  async close(): Promise<void> {
    await this.started();
    await this.#locked?.close();
    this.#locked = undefined;
  }

  /** The kernel lets a lock go with the process that has it, however that ends. */
  async #lock(): Promise<string | undefined> {
    const loaded = await loadLibc();
    if (!loaded.ok) return `nothing keeps another program out of ${this.directory}: ${loaded.reason}`;
    const file = await this.#fs.open(this.directory, 'r');
    if (loaded.libc.lockNow(file.fd) < 0) {
      await file.close();
      const { pid } = lockHolder(this.directory) ?? {};
      const holder = pid === undefined ? 'another program' : `process ${pid}`;
      throw new Error(`${holder} keeps its state there; end it, or name another directory`);
    }
    this.#locked = file;
    return undefined;
  }

  /** Makes new names outlive a loss of power. */
  async sync(): Promise<void> {
    const directory = await this.#fs.open(this.directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  /** Renames a file, so that it is not read again and not lost. @returns its new name, or why it could not be done */
  async setAside(name: string, suffix: string): Promise<string> {
    const next = `${name}.${suffix}`;
    try {
      await this.#fs.rename(this.#path(name), this.#path(next));
      return `kept as ${next}`;
    } catch (error) {
      return `it can't be renamed: ${(error as Error).message}`;
    }
  }

  #path(name: string): string {
    return join(this.directory, name);
  }
}

/** Empty for a file that can't be read. */
function idIn(path: string): Promise<string> {
  return readShort(path, LONGEST_ID).catch(() => '');
}

/** Text with room for its sum. Each file is an object with something in it. */
function* withSum(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst ? `${SUM_HEAD}${NO_SUM}${SUM_END}${piece.slice(1)}` : piece;
    isFirst = false;
  }
}

/** The text that was written, or that it is another one. Files of version 0.1 have no sum. */
function checked(text: string): { readonly text: string } | { readonly problem: string } {
  if (!text.startsWith(SUM_HEAD)) return { text };
  const end = SUM_HEAD.length + SUM_LENGTH;
  const rest = text.slice(end);
  const sum = createHash('sha256').update(SUM_HEAD).update(NO_SUM).update(rest).digest('hex');
  return text.slice(SUM_HEAD.length, end) === sum && rest.startsWith(SUM_END)
    ? { text: `{${rest.slice(SUM_END.length)}` }
    : { problem: 'was changed since it was written: its checksum is another one' };
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
