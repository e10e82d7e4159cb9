import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Receives the bytes of one read: the first `length` of `bytes`. They are valid only during the call, because
 * the memory is reused for the next read of any connection.
 */
export type Receive = (bytes: Uint8Array, length: number) => void;

/** Reads and writes the bytes of one connection. Everything else is done through its socket. */
export interface Channel {
  readonly socket: Socket;
  /**
   * Passes every read to `receive`. Call this once, in the turn of the event loop in which the connection was
   * accepted.
   */
  read(receive: Receive): void;
  /**
   * Writes as many of the first `length` of `bytes` as the operating system accepts at once, bypassing the
   * stream. The caller writes the rest to the stream. Call this only while the stream holds no bytes.
   * @returns how many bytes were accepted; 0 if only the stream can write, or has an error to report
   */
  writeNow(bytes: Uint8Array, length: number): number;
}

/** Reads and writes with Node's documented functions: for TLS, and wherever there is no `DirectChannel`. */
export class StreamChannel implements Channel {
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  read(receive: Receive): void {
    this.socket.on('data', (chunk) => {
      // A Uint8Array is passed on, because the `slice()` of a Buffer is a view.
      receive(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length), chunk.length);
    });
  }

  writeNow(): number {
    return 0;
  }
}

/** The parts used here of Node's internal handle of a TCP socket. None of it is documented. */
interface Handle {
  /** The descriptor; -1 when the handle is closed, and always on Windows. */
  readonly fd: number;
}

interface WithHandle {
  _handle: Handle | null;
}

/** Maximum bytes per read, the same as in Node's streams. */
const READ_SIZE = 64 * 1024;

/** The memory for every read of every connection: nothing else runs between a read and its callback. */
const memory = new Uint8Array(READ_SIZE);

/**
 * A TCP connection without the overhead of Node's streams. A request takes 16 µs of processor time. Reading
 * into shared memory saves 3 µs of that: a stream allocates 64 KiB for each read and cuts it to size. Writing
 * to the descriptor takes 1.3 µs instead of 7 µs through the stream.
 *
 * This relies on `_handle`, which Node does not document:
 * - The option `onread` exists only for outgoing connections. To read an accepted connection into our memory,
 *   its handle moves to a new socket with that option. The old socket stays, without a handle, until the new
 *   one closes, because the server counts it.
 * - The handle has the descriptor. That number may refer to another file as soon as the handle is closed, so
 *   nothing is written to it unless the socket still has the handle.
 *
 * `of` returns undefined if this version of Node has no such handle; the connection is then a
 * `StreamChannel`. The tests of this file fail if that happens.
 */
export class DirectChannel implements Channel {
  readonly socket: Socket;
  readonly #handle: Handle;
  readonly #fd: number;
  #receive: Receive | undefined;

  /**
   * Takes over a connection of a server.
   * @param accepted in the turn in which it was accepted; must not be used afterwards if this succeeds
   */
  static of(accepted: Socket): DirectChannel | undefined {
    const handle = handleOf(accepted);
    if (!handle || !(handle.fd >= 0)) return undefined;
    return new DirectChannel(accepted, handle);
  }

  private constructor(accepted: Socket, handle: Handle) {
    (accepted as unknown as WithHandle)._handle = null;
    const options = {
      handle,
      allowHalfOpen: accepted.allowHalfOpen,
      onread: { buffer: memory, callback: (length: number) => this.#read(length) },
    };
    this.socket = new Socket(options);
    this.socket.once('close', () => accepted.destroy());
    this.#handle = handle;
    this.#fd = handle.fd;
  }

  read(receive: Receive): void {
    this.#receive = receive;
  }

  writeNow(bytes: Uint8Array, length: number): number {
    if (handleOf(this.socket) !== this.#handle) return 0;
    try {
      return writeSync(this.#fd, bytes, 0, length);
    } catch {
      // The client does not read (EAGAIN), or is gone. The stream gets the same error from the system, and
      // waits or reports it.
      return 0;
    }
  }

  /** Passes on one read. Returns true; otherwise Node stops reading. */
  #read(length: number): true {
    this.#receive?.(memory, length);
    return true;
  }
}

function handleOf(socket: Socket): Handle | null | undefined {
  return (socket as unknown as Partial<WithHandle>)._handle;
}
