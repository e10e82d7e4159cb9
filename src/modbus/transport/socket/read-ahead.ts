import type { Socket } from 'node:net';
import { concatBytes } from '../../protocol/bytes.js';

/**
 * A connection that must wait reads on until it has this many bytes ahead. While it does not read, it can't
 * notice that the client leaves.
 */
const MAX_BYTES = 16 * 1024;

/**
 * The bytes that a connection reads while it can't answer. Holds `MAX_BYTES` and the read that exceeds them,
 * then pauses the socket.
 */
export class ReadAhead {
  readonly #socket: Socket;
  #reads: Uint8Array[] = [];
  #length = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Adds the bytes of a read. @param bytes must not change later */
  add(bytes: Uint8Array): void {
    this.#reads.push(bytes);
    this.#length += bytes.length;
    if (this.#length >= MAX_BYTES) this.#socket.pause();
  }

  /** Returns all bytes, in their order. The socket reads again. */
  take(): Uint8Array {
    const bytes = concatBytes(...this.#reads);
    this.drop();
    this.#socket.resume();
    return bytes;
  }

  drop(): void {
    this.#reads = [];
    this.#length = 0;
  }
}
