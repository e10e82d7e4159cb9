import { constants, promises } from 'node:fs';
import { join } from 'node:path';

/** The part of `node:fs/promises` that is used; tests pass a disk that is full. */
export type FileSystem = Pick<typeof promises, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm'>;

/** A file of a state takes at most 1 MB per list of registers; more is damage. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Pieces of text are gathered up to this size, so that each write takes little time. */
const CHUNK = 32 * 1024;

const UNFINISHED = '.tmp';

/** The files of a state in their directory. Functions throw what the system says, unless they say otherwise. */
export class StateFiles {
  readonly directory: string;
  readonly #fs: FileSystem;

  constructor(directory: string, fs: FileSystem = promises) {
    this.directory = directory;
    this.#fs = fs;
  }

  /** Makes the directory, and removes what a killed program left unfinished. @returns the names of the files */
  async open(): Promise<string[]> {
    await this.#fs.mkdir(this.directory, { recursive: true, mode: 0o750 });
    const names = await this.#fs.readdir(this.directory);
    for (const name of names) if (name.endsWith(UNFINISHED)) await this.remove(name);
    return names.filter((name) => name.endsWith('.json'));
  }

  /** The text of a file, or what is wrong with the file in words. */
  async read(name: string): Promise<{ readonly text: string } | { readonly problem: string }> {
    try {
      // A FIFO of that name would otherwise wait for a writer.
      const file = await this.#fs.open(this.#path(name), constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const stats = await file.stat();
        if (!stats.isFile()) return { problem: 'is not a regular file' };
        if (stats.size > MOST_BYTES) return { problem: `has more than ${MOST_BYTES} bytes` };
        return { text: await file.readFile('utf8') };
      } finally {
        await file.close();
      }
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
        for (const chunk of chunksOf(pieces)) await file.writeFile(chunk);
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
