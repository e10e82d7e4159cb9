import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const OWN = /^traffic-(\d{6,})\.(?:ndjson|pcapng)$/;

type DiskFile = Pick<FileHandle, 'write' | 'truncate' | 'close' | 'stat'>;

interface OpenFile {
  readonly path: string;
  readonly handle: DiskFile;
}

/** The functions of node:fs/promises that are used here. Tests replace them. */
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

  /** @param most most files in the directory; the oldest are removed before there are more */
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
   * Whether the path still leads to the open file. Somebody may have removed or moved it, which a write does
   * not notice.
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
    for (const { name } of old.slice(0, Math.max(0, old.length - this.#most + 1))) {
      await this.#disk.rm(join(this.#directory, name));
    }
    const name = `traffic-${String(next).padStart(6, '0')}.${this.#extension}`;
    const path = join(this.#directory, name);
    this.#current = { handle: await this.#disk.open(path, 'wx'), path };
  }

  /** Appends bytes to the open file: all of them, or none before it rejects. */
  async append(bytes: Uint8Array): Promise<void> {
    const { handle } = this.#current as OpenFile;
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await handle.write(bytes, done, bytes.length - done, this.#length + done)).bytesWritten;
      }
      this.#length += bytes.length;
    } catch (error) {
      // Half an event would make the file unreadable from there on.
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

/** Creates a directory and its parents. Node's own recursive way never ends below /proc. */
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
