import type { Socket } from 'node:net';
import type { Step } from '../../protocol/reply-plan.js';
import type { Outlet, StepFailure } from './outlet.js';

/** The sending side of one connection. */
export class TcpOutlet implements Outlet {
  readonly #socket: Socket;
  readonly #raw: Socket;

  /**
   * @param socket takes the replies
   * @param raw the connection below `socket` where that is a TLS one, which can't reset; otherwise the same
   */
  constructor(socket: Socket, raw: Socket) {
    this.#socket = socket;
    this.#raw = raw;
  }

  get open(): boolean {
    return this.#socket.writable;
  }

  play(step: Step): StepFailure {
    if (!this.open) return 'the connection is closed';
    switch (step.kind) {
      case 'bytes':
        this.#socket.write(pooled(step.bytes));
        return undefined;
      case 'close':
        if (step.how === 'end') this.#socket.end();
        else this.#raw.resetAndDestroy();
        return undefined;
      case 'break':
        return 'a TCP connection has no break state';
    }
  }

  flush(): void {
    this.#socket.uncork();
  }
}

/**
 * A copy in Node's pool. A small array of bytes lies on the garbage-collected heap; handed to a socket as it is, each
 * would be moved to memory of its own first, which costs more than the copy.
 */
function pooled(bytes: Uint8Array): Buffer {
  const buffer = Buffer.allocUnsafe(bytes.length);
  buffer.set(bytes);
  return buffer;
}
