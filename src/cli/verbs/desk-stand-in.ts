import { createServer, type Server, type Socket } from 'node:net';
import { CODES, type Code } from '../../simulator/commands/refusal.js';

/** Most connections at a time, the longest time in ms that one may take, and most bytes that are read of it. */
const MOST_CONNECTIONS = 64;
const LONGEST_MS = 2000;
const MOST_READ = 16 * 1024;

/** The answer to every request, however it looks. The side of the lines loads nothing of REST for it. */
function answer(): string {
  const code: Code = 'rest.restarting';
  const { status, means: detail } = CODES[code];
  const problems = [{ path: '', message: detail, code }];
  const body = JSON.stringify({
    title: 'Service Unavailable',
    status,
    detail,
    error: detail,
    code,
    problems,
  });
  return [
    `HTTP/1.1 ${status} Service Unavailable`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'retry-after: 1',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

/**
 * Stands at the address of REST while its thread is started again, so that clients are not left to guess. On
 * the side of the lines: it looks at nothing of what it is sent, and leaves long requests unread.
 */
export class DeskStandIn {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(host: string, port: number) {
    const text = answer();
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), LONGEST_MS).unref();
      socket.on('error', () => {});
      socket.once('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(socket);
      });
      socket.once('data', () => socket.end(text));
      // A client that has sent no more than this is read to its end, so that its place is free at once.
      socket.on('data', () => socket.bytesRead > MOST_READ && socket.pause());
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
    // Whoever has the port now, the next desk says so.
    this.#server.on('error', () => {});
    this.#server.listen(port, host);
  }

  /** Leaves the address at once. */
  end(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
