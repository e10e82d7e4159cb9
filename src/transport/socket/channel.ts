import type { Socket } from 'node:net';

/**
 * Takes the bytes of one read: the first `length` of `bytes`. They are valid during the call only, because the memory
 * is used for the next read, of any connection.
 */
export type Receive = (bytes: Uint8Array, length: number) => void;

/** How the bytes of one connection are read and written. Everything else is done with its socket. */
export interface Channel {
  readonly socket: Socket;
  /** Hands every read to `receive`. To be called once, in the turn of the event loop in which the connection came. */
  read(receive: Receive): void;
  /**
   * Writes at once, past the stream, what the operating system takes of the first `length` of `bytes`. The caller gives
   * the rest to the stream. To be called only while nothing waits in the stream.
   * @returns how many bytes were taken; 0 where only the stream can write, and where the stream has to report an error
   */
  writeNow(bytes: Uint8Array, length: number): number;
}

/** Reads and writes with the functions that Node documents: for TLS, and wherever a `DirectChannel` is not to be had. */
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
