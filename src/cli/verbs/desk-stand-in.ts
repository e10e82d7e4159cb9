import { createServer, type Server, type Socket } from 'node:net';
import { CODES, type Code } from '../../simulator/commands/refusal.js';

/** Maximum number of connections at a time, maximum duration of one in ms, and maximum number of bytes read from it. */
const MOST_CONNECTIONS = 64;
const LONGEST_MS = 2000;
const MOST_READ = 16 * 1024;

/** The answer to every request, whatever it is. It needs no REST code on the side of the lines. */
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
 * Answers at the REST address while the desk restarts, so that clients know why REST is unavailable. It runs
 * on the side of the lines: it parses nothing it receives, and leaves long requests unread.
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
      // Read at most MOST_READ bytes. A client that sends no more than that sees a normal close, which frees
      // its slot at once.
      socket.on('data', () => socket.bytesRead > MOST_READ && socket.pause());
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
    // If another program has the port now, the next desk reports it.
    this.#server.on('error', () => {});
    this.#server.listen(port, host);
  }

  /** Frees the address at once. */
  end(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
