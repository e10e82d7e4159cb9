import { createServer, type Server, type Socket } from 'node:net';
import { CODES, type Code } from '../../simulator/commands/refusal.js';

/** Most connections at a time, and the longest time in ms that one may take. */
const MOST_CONNECTIONS = 64;
const LONGEST_MS = 2000;

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
 * the side of the lines: it reads nothing of what it is sent.
 */
export class DeskStandIn {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(host: string, port: number) {
    const text = answer();
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.setTimeout(LONGEST_MS, () => socket.destroy());
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
      socket.once('data', () => socket.end(text));
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
