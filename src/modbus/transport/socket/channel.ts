import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Takes the bytes of one read: the first `length` of `bytes`. The bytes are valid during the call only,
 * because the memory is used for the next read, of any connection.
 */
export type Receive = (bytes: Uint8Array, length: number) => void;

/** How the bytes of one connection are read and written. Everything else is done with its socket. */
export interface Channel {
  readonly socket: Socket;
  /**
   * Hands every read to `receive`. Call this once, in the turn of the event loop in which the connection
   * came.
   */
  read(receive: Receive): void;
  /**
   * Writes as many of the first `length` of `bytes` as the operating system takes at once, past the stream.
   * The caller gives the rest to the stream. Call this only while nothing waits in the stream.
   * @returns how many bytes were taken; 0 where only the stream can write, and where the stream has to report
   * an error
   */
  writeNow(bytes: Uint8Array, length: number): number;
}

/**
 * Reads and writes with the functions that Node documents: for TLS, and wherever there is no `DirectChannel`.
 */
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

/** The parts of Node's own handle of a TCP socket that are used here. Nothing of it is documented. */
interface Handle {
  /** The descriptor; -1 when the handle is closed, and always on Windows. */
  readonly fd: number;
}

interface WithHandle {
  _handle: Handle | null;
}

/** How many bytes are read at once, the same number as in Node's streams. */
const READ_SIZE = 64 * 1024;

/** The memory for every read of every connection: nothing else runs between a read and its callback. */
const memory = new Uint8Array(READ_SIZE);

/**
 * A TCP connection without the detours of Node's streams. Of 16 µs of processor time for a request, reading
 * into shared memory saves 3 µs: a stream allocates 64 KiB for each read and cuts it to size. Writing to the
 * descriptor takes 1.3 µs, and 7 µs through the stream.
 *
 * This leans on `_handle`, which Node does not document:
 * - The option `onread` is for connections that a client opens. To read an accepted connection into memory of
 * ours, its handle moves to a new socket with that option. The old socket stays, without a handle, until the
 * new one closes: the server counts it.
 * - The handle has the descriptor. That number may mean another file as soon as the handle is closed, so
 * nothing is written to it unless the socket still has the handle.
 *
 * `of` returns undefined where a Node has no such handle, and then the connection is a `StreamChannel`. The
 * tests of this file fail if that happens.
 */
export class DirectChannel implements Channel {
  readonly socket: Socket;
  readonly #handle: Handle;
  readonly #fd: number;
  #receive: Receive | undefined;

  /**
   * Takes over a connection of a server.
   * @param accepted in the turn in which it came; not to be used any more if this succeeds
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

  /** Passes on one read. Returns true, because Node stops reading otherwise. */
  #read(length: number): true {
    this.#receive?.(memory, length);
    return true;
  }
}

function handleOf(socket: Socket): Handle | null | undefined {
  return (socket as unknown as Partial<WithHandle>)._handle;
}
