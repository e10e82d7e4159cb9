import { createHash } from 'node:crypto';
import { promises } from 'node:fs';
import { join } from 'node:path';
import { HERE, type Platform } from '../../../common/platform.js';
import { makeDirectory } from '../../../files/config/make-directory.js';
import { loadLibc } from '../../../modbus/transport/port/libc.js';
import { lockHolder } from '../../../modbus/transport/port/port-path.js';
import { readShort } from '../../../modbus/transport/read-short.js';

export const SIMULATOR_FILE = 'bench.json';
export const CLOCK_FILE = 'clock.json';

/** The name of the file of a device. It is a digest, because names of devices may have any characters. */
export function deviceFile(device: string): string {
  const readable = device.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 32);
  return `device-${readable}-${createHash('sha256').update(device).digest('hex').slice(0, 8)}.json`;
}

export function isDeviceFile(name: string): boolean {
  return /^device-.*\.json$/.test(name);
}

/** The part of `node:fs/promises` that is used here. Tests replace it to play a full disk. */
export type FileSystem = Pick<typeof promises, 'open' | 'readdir' | 'rename' | 'rm'>;

/**
 * Longest file of a state, in bytes. A file has at most 1 MB per list of registers, so a longer one is
 * damaged.
 */
const MOST_BYTES = 32 * 1024 * 1024;
/** Texts are gathered into chunks of this many characters, so that each write takes little time. */
const CHUNK = 32 * 1024;

const UNFINISHED = '.tmp';
/**
 * Name of the file that exists while a program starts with the state. It holds the boot id of the machine.
 */
const START = 'start';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** Most bytes that are read of a boot id, which has 37. */
const LONGEST_ID = 100;

/** The beginning of a file: the SHA-256 of the file, computed with zeros in its place. */
const SUM_HEAD = '{"sum":"';
const SUM_LENGTH = 64;
const SUM_END = '",';
const NO_SUM = '0'.repeat(SUM_LENGTH);

/**
 * The files of a state in their directory. Functions throw the error of the system, unless they say
 * otherwise.
 */
export class StateFiles {
  readonly directory: string;
  readonly #fs: FileSystem;
  readonly #platform: Platform;
  #locked: promises.FileHandle | undefined;
  #isStarted = false;

  constructor(directory: string, fs: FileSystem = promises, platform = HERE) {
    this.directory = directory;
    this.#fs = fs;
    this.#platform = platform;
  }

  /**
   * Creates the directory, locks it for this process, and removes files that a killed program left
   * unfinished. Throws when another process holds the lock.
   * @returns the names of the files; `note` says why the directory can't be locked, if so; `hasEnded` is true
   * when the program ended during its last start with these files and the machine went on
   */
  async open(): Promise<{ names: string[]; note: string | undefined; hasEnded: boolean }> {
    makeDirectory(this.directory, 0o750);
    const note = await this.#lock();
    const boot = await idIn(BOOT_ID);
    const hasEnded = boot !== '' && (await idIn(this.#path(START))) === boot;
    // A full disk does not keep a program from starting.
    if (!this.#isStarted) await promises.writeFile(this.#path(START), boot, { mode: 0o640 }).catch(() => {});
    const names = await this.#fs.readdir(this.directory);
    for (const name of names) if (name.endsWith(UNFINISHED)) await this.remove(name);
    return { names: names.filter((name) => name.endsWith('.json')), note, hasEnded };
  }

  /** The names of the files that exist now. Creates the directory again when somebody has removed it. */
  async present(): Promise<ReadonlySet<string>> {
    makeDirectory(this.directory, 0o750);
    return new Set(await this.#fs.readdir(this.directory));
  }

  /** The text of a file, or a sentence that says what is wrong with it. */
  async read(name: string): Promise<{ readonly text: string } | { readonly problem: string }> {
    try {
      return checked(await readShort(this.#path(name), MOST_BYTES));
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  /** Writes a file atomically: when the program is killed, the file has either its old or its new content. */
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
      // An unfinished file would take the room on a full disk that the next attempt needs.
      await this.#fs.rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#fs.rm(this.#path(name), { force: true });
  }

  /** Notes that the state did not end the start: the program has started, or somebody has stopped it. */
  async started(): Promise<void> {
    this.#isStarted = true;
    await this.remove(START);
  }

  /** Releases the lock of the directory. */
  async close(): Promise<void> {
    await this.started();
    await this.#locked?.close();
    this.#locked = undefined;
  }

  /** Locks the directory. The kernel releases the lock when the process ends, however it ends. */
  async #lock(): Promise<string | undefined> {
    const loaded = await loadLibc();
    if (!loaded.ok) return `nothing keeps another program out of ${this.directory}: ${loaded.error}`;
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

  /** Flushes the directory, so that new names outlive a loss of power. Windows opens no directory. */
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
   * @returns its new name, or a sentence that says why it could not be renamed
   */
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

/** Reads an identifier from a file; empty when the file can't be read. */
function idIn(path: string): Promise<string> {
  return readShort(path, LONGEST_ID).catch(() => '');
}

/**
 * Puts the place for the checksum before the text of a file. Each file is an object with at least one member.
 */
function* withSum(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst ? `${SUM_HEAD}${NO_SUM}${SUM_END}${piece.slice(1)}` : piece;
    isFirst = false;
  }
}

/** Checks the checksum of a file and removes it. Files of version 0.1 have none and pass unchecked. */
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
