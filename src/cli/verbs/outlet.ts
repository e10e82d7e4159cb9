import { close, write, writeSync } from 'node:fs';

/** Most bytes that may wait for a reader; further entries of a log are lost. */
const MOST_WAITING = 256 * 1024;
/** Bytes written in one turn of the event loop. */
const MOST_AT_ONCE = 16 * 1024;
/** Pause between two attempts to write, in ms. It doubles after each attempt that finds no room. */
const FIRST_RETRY_MS = 1;
const LONGEST_RETRY_MS = 50;
/** Time between two looks whether the file is still in its place, in ms. */
const LOOK_MS = 1000;

/**
 * The errors of a pipe or socket whose reader is gone, and of a terminal that was hung up. Files never have
 * them.
 */
const NOBODY_READS = ['EPIPE', 'ECONNRESET', 'EIO'];

/**
 * Where the program prints or logs. Printing never waits: text that a terminal or a pipe has no room for is
 * kept and written later, in order. Node itself writes to a terminal in the thread that prints, so one Ctrl-S
 * would stop all lines.
 */
export class Outlet {
  /** Called with the number of entries that were lost since the last call, when there is room again. */
  onLoss: (entries: number) => void = () => {};
  /**
   * Called with each error that loses output, such as a full disk. A reader that is gone is no such error.
   */
  onFailure: (error: NodeJS.ErrnoException) => void = () => {};
  /** The last error that has lost output. */
  failure: NodeJS.ErrnoException | undefined;
  /** Resolves when nobody reads any more. That is noticed at the next write. */
  readonly unread: Promise<void>;
  /**
   * For a file that may be moved or removed while it is written, as logrotate does: asked from time to time
   * before a write, and resolves with a new descriptor, or with undefined while the file is in its place.
   */
  reopen: ((descriptor: number) => Promise<number | undefined>) | undefined;
  #descriptor: number;
  #lookAt = 0;
  readonly #blocks: boolean;
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #lost = 0;
  #isWriting = false;
  #isUnread = false;
  #retryMs = FIRST_RETRY_MS;
  #whenEmpty: (() => void)[] = [];
  #reportUnread = () => {};

  /**
   * @param blocks whether a write may wait, as for the disk of a file. It is then done by a thread of libuv's
   * pool, which keeps the process from ending; so a descriptor that may wait for ever has to be non-blocking.
   */
  constructor(descriptor: number, blocks: boolean) {
    this.#descriptor = descriptor;
    this.#blocks = blocks;
    this.unread = new Promise((resolve) => {
      this.#reportUnread = resolve;
    });
  }

  /** Writes text, even if it has to wait for room. */
  print(text: string): void {
    if (this.#isUnread) return;
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#isWriting) this.#writeSome();
  }

  /** Writes an entry of a log, or counts it as lost if too much is waiting. */
  offer(entry: string): void {
    if (this.#bytes < MOST_WAITING) this.print(entry);
    else this.#lost++;
  }

  /** Resolves when nothing is waiting, or nobody reads any more. */
  empty(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Writes what is waiting at the end of the process, as far as there is room. */
  writeLast(): void {
    try {
      if (this.#bytes > 0) writeSync(this.#descriptor, Buffer.concat(this.#waiting));
    } catch {
      // There is nobody left to tell.
    }
  }

  readonly #writeSome = (): void => {
    this.#isWriting = true;
    const bytes = this.#next();
    if (this.#blocks) {
      const now = performance.now();
      if (this.reopen && now >= this.#lookAt) {
        this.#lookAt = now + LOOK_MS;
        void this.reopen(this.#descriptor).then((descriptor) => this.#goOnWith(descriptor));
        return;
      }
      write(this.#descriptor, bytes, (error, taken) => (error ? this.#failed(error) : this.#took(taken)));
      return;
    }
    let taken: number;
    try {
      taken = writeSync(this.#descriptor, bytes);
    } catch (error) {
      this.#failed(error as NodeJS.ErrnoException);
      return;
    }
    this.#took(taken);
  };

  /** The text that has waited longest; short texts are joined. */
  #next(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const { length } of this.#waiting) {
      if (bytes >= MOST_AT_ONCE) break;
      bytes += length;
      count++;
    }
    const [first] = this.#waiting;
    const together = count === 1 && first ? first : Buffer.concat(this.#waiting.slice(0, count));
    return together.subarray(0, MOST_AT_ONCE);
  }

  #took(taken: number): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#drop(taken);
    this.#goOn();
    if (this.#bytes > 0 || this.#lost === 0) return;
    const lost = this.#lost;
    this.#lost = 0;
    this.onLoss(lost);
  }

  /**
   * Handles an error of a write: waits if there was no room; otherwise the text that could not be written is
   * lost.
   */
  #failed(error: NodeJS.ErrnoException): void {
    const { code = '' } = error;
    if (code === 'EAGAIN') {
      setTimeout(this.#writeSome, this.#retryMs);
      this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
      return;
    }
    if (NOBODY_READS.includes(code) && !this.#blocks) {
      this.#isUnread = true;
      this.#drop(this.#bytes);
      this.#reportUnread();
    } else {
      this.failure = error;
      this.#lost += this.#drop(this.#next().length);
      this.onFailure(error);
    }
    this.#goOn();
  }

  /** @returns the number of texts that end within these bytes */
  #drop(bytes: number): number {
    this.#bytes -= bytes;
    let ended = 0;
    for (let left = bytes; left > 0; ) {
      const first = this.#waiting[0] as Buffer;
      if (first.length > left) {
        this.#waiting[0] = first.subarray(left);
        break;
      }
      left -= first.length;
      this.#waiting.shift();
      ended++;
    }
    return ended;
  }

  #goOnWith(descriptor: number | undefined): void {
    if (descriptor !== undefined) {
      // What an error would say of the old file, its last write has said.
      close(this.#descriptor, () => {});
      this.#descriptor = descriptor;
    }
    this.#writeSome();
  }

  #goOn(): void {
    this.#isWriting = this.#bytes > 0;
    if (this.#isWriting) {
      setImmediate(this.#writeSome);
      return;
    }
    const done = this.#whenEmpty;
    this.#whenEmpty = [];
    for (const resolve of done) resolve();
  }
}
