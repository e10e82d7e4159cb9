import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Takes the bytes of one read: the first `length` of `bytes`. They are valid during the call only, because
 * the memory is used for the next read, of any connection.
 */
export type Receive = (bytes: Uint8Array, length: number) => void;

/** How the bytes of one connection are read and written. Everything else is done with its socket. */
export interface Channel {
  readonly socket: Socket;
  /**
   * Hands every read to `receive`. To be called once, in the turn of the event loop in which the connection
   * came.
   */
  read(receive: Receive): void;
  /**
   * Writes at once, past the stream, what the operating system takes of the first `length` of `bytes`. The
   * caller gives the rest to the stream. To be called only while nothing waits in the stream.
   * @returns how many bytes were taken; 0 where only the stream can write, and where the stream has to report
   * an error
   */
  writeNow(bytes: Uint8Array, length: number): number;
}

/**
 * Reads and writes with the functions that Node documents: for TLS, and wherever a `DirectChannel` is not to
 * be had.
 */
export class StreamChannel implements Channel {
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  read(receive: Receive): void {
    this.socket.on('data', (chunk) => {
      // Not a Buffer: its slice() is a view.
      receive(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length), chunk.length);
    });
  }

  writeNow(): number {
    return 0;
  }
}

/** What Node's own handle of a TCP socket has, of which nothing is documented. */
interface Handle {
  /** The descriptor; -1 when the handle is closed, and always on Windows. */
  readonly fd: number;
}

interface WithHandle {
  _handle: Handle | null;
}

/** As much as Node's streams read at once. */
const READ_SIZE = 64 * 1024;

/** Every read of every connection comes here: nothing else runs between a read and its callback. */
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
   * @param accepted a connection of a server, in the turn in which it came; not to be used any more if this
   * succeeds
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
      // The client does not read (EAGAIN), or is gone: the stream gets the same from the system, and waits or
      // reports it.
      return 0;
    }
  }

  /** Node stops reading if this returns false. */
  #read(length: number): true {
    this.#receive?.(memory, length);
    return true;
  }
}

function handleOf(socket: Socket): Handle | null | undefined {
  return (socket as unknown as Partial<WithHandle>)._handle;
}
