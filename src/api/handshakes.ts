import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { LoopTurns } from './loop-turns.js';

type Listener = (this: Server, socket: Socket) => void;

/**
 * Begins the TLS handshakes of a server one after another, each in a turn of the event loop of its own. A handshake costs
 * milliseconds of computing, and without turns, many clients that connect at once would hold up the lines.
 */
export class Handshakes {
  readonly #open = new Set<Socket>();
  #isOver = false;

  /** @param timeoutMs the time for a client to begin its handshake */
  constructor(server: Server, turns: Pick<LoopTurns, 'take'>, timeoutMs: number) {
    // Node's own listener begins a handshake as soon as there is a connection.
    const listeners = server.listeners('connection') as Listener[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#isOver) socket.destroy();
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket)).on('error', () => socket.destroy());
      socket.setTimeout(timeoutMs, () => socket.destroy());
      // The computing begins with the first bytes of the client. Node's listener takes over what was read already.
      socket.once('readable', () =>
        turns.take(() => {
          if (socket.destroyed) return;
          socket.setTimeout(0);
          for (const listener of listeners) listener.call(server, socket);
        }),
      );
    });
  }

  /** Closes all connections, because a server does not end before they have ended, and takes no more. */
  end(): void {
    this.#isOver = true;
    for (const socket of this.#open) socket.destroy();
  }
}
