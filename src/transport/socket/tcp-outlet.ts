import type { Socket } from 'node:net';
import type { Step } from '../../protocol/reply-plan.js';
import type { Outlet, StepFailure } from './outlet.js';

/** Room for a few replies. */
const FIRST_ROOM = 512;

/**
 * The sending side of one connection.
 *
 * Replies that have to wait, for others of the same turn or for a client that does not read, are put together here:
 * a stream would keep each as objects of many times its length, and what a client leaves unread is bounded in bytes.
 */
export class TcpOutlet implements Outlet {
  readonly #socket: Socket;
  readonly #raw: Socket;
  readonly #taken: (error?: Error | null) => void;
  /** Bytes that the socket was not given yet, at the beginning of `#room`. */
  #held = 0;
  #room = new Uint8Array(0);
  #holds = false;

  /**
   * @param socket takes the replies
   * @param raw the connection below `socket` where that is a TLS one, which can't reset; otherwise the same
   * @param taken called when the operating system has taken what was written
   */
  constructor(socket: Socket, raw: Socket, taken: () => void) {
    this.#socket = socket;
    this.#raw = raw;
    this.#taken = (error) => {
      if (error) return;
      if (!this.#holds) this.flush();
      taken();
    };
  }

  get open(): boolean {
    return this.#socket.writable;
  }

  /** Bytes that the operating system has not taken. */
  get unsent(): number {
    return this.#held + this.#socket.writableLength;
  }

  /** Bytes leave together from now on, when `release` is called. */
  hold(): void {
    this.#holds = true;
  }

  /** The end of `hold`. */
  release(): void {
    this.#holds = false;
    // Otherwise they leave when what was written before has left.
    if (this.#socket.writableLength === 0) this.flush();
  }

  play(step: Step): StepFailure {
    if (!this.open) return 'the connection is closed';
    switch (step.kind) {
      case 'bytes':
        if (this.#holds || this.#socket.writableLength > 0) this.#keep(step.bytes);
        else this.#socket.write(step.bytes, this.#taken);
        return undefined;
      case 'close':
        this.flush();
        if (step.how === 'end') this.#socket.end();
        else this.#raw.resetAndDestroy();
        return undefined;
      case 'break':
        return 'a TCP connection has no break state';
    }
  }

  flush(): void {
    this.#holds = false;
    if (this.#held === 0) return;
    const bytes = this.#room.subarray(0, this.#held);
    this.#room = new Uint8Array(0);
    this.#held = 0;
    if (this.open) this.#socket.write(bytes, this.#taken);
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#held + bytes.length;
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.max(FIRST_ROOM, length, 2 * this.#held));
      room.set(this.#room.subarray(0, this.#held));
      this.#room = room;
    }
    this.#room.set(bytes, this.#held);
    this.#held = length;
  }
}
