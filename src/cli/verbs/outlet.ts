import { close, write, writeSync } from 'node:fs';

/** Maximum number of bytes that may wait for a reader; further log entries are dropped. */
const MOST_WAITING = 256 * 1024;
/** Maximum number of bytes written in one turn of the event loop. */
const MOST_AT_ONCE = 16 * 1024;
/** Pause between two attempts to write, in ms. It doubles after each attempt that finds no room. */
const FIRST_RETRY_MS = 1;
const LONGEST_RETRY_MS = 50;
/** How often to check whether the file is still in place, in ms. */
const LOOK_MS = 1000;

/** Errors of a pipe or socket whose reader is gone, and of a terminal that hung up. Files never report them. */
const NOBODY_READS = ['EPIPE', 'ECONNRESET', 'EIO'];

/**
 * Where the program prints or logs. Printing never waits: text for which a terminal or pipe has no room is
 * kept and written later, in order. Node itself writes to a terminal in the thread that prints, so a single
 * Ctrl-S would stop all lines.
 */
export class Outlet {
  /** Called when there is room again, with the number of entries lost since the last call. */
  onLoss: (entries: number) => void = () => {};
  /** Called with each error that loses output, such as a full disk. A reader that is gone does not count. */
  onFailure: (error: NodeJS.ErrnoException) => void = () => {};
  /** The last error that lost output. */
  failure: NodeJS.ErrnoException | undefined;
  /** Resolves when the reader is gone. This is only noticed on the next write. */
  readonly unread: Promise<void>;
  /**
   * For a file that may be moved or removed while in use, as logrotate does. Called from time to time before
   * a write. Resolves with a new descriptor, or with undefined if the file is still in place.
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
   * @param blocks whether a write may wait, as for a disk file. A thread of libuv's pool then does the write,
   * and keeps the process from exiting, so a descriptor that may wait for ever must be non-blocking.
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

  /** Writes a log entry, or counts it as lost if too much is waiting. */
  offer(entry: string): void {
    if (this.#bytes < MOST_WAITING) this.print(entry);
    else this.#lost++;
  }

  /** Resolves when nothing is waiting, or the reader is gone. */
  empty(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Writes the waiting text when the process exits, as far as there is room. */
  writeLast(): void {
    try {
      if (this.#bytes > 0) writeSync(this.#descriptor, Buffer.concat(this.#waiting));
    } catch {
      // There is nowhere left to report it.
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

  /** The text that has waited longest. Short texts are joined. */
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

  /** Handles a write error. If there was no room, waits; otherwise the text is lost. */
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
      // Any error of the old file was already reported by its last write.
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
