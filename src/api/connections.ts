import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { LoopTurns } from './loop-turns.js';

/** The limit unless the configuration sets another. */
const MAX_CONNECTIONS = 64;

/** Connections that the system may queue. Node accepts all of them in one turn of the event loop. */
export const BACKLOG = 32;

/** File descriptors that stay free for the lines. */
const RESERVED_DESCRIPTORS = 32;

/**
 * Bytes that Node's parser gets at a time. 64 KiB could hold 2000 requests, and Node would start all of them at once.
 */
const CHUNK = 1024;

/**
 * Work in ms for a chunk besides passing it on: the system copies it, and V8 clears it away. The figure is estimated. It lets all
 * clients together send 12 MB/s.
 */
const CHUNK_MS = 0.04;

/** Resolves when a request may be answered: after all earlier requests on its connection. */
export type TurnOf = (request: IncomingMessage) => Promise<void>;

/**
 * Limits the number of connections, and reads from one connection in each turn of the event loop.
 * @param descriptors how many file descriptors the process may have
 */
export function limitConnections(
  server: Server,
  turns: LoopTurns,
  maxConnections: number = MAX_CONNECTIONS,
  descriptors: number = descriptorLimit(),
): TurnOf {
  server.maxConnections = maxConnections;
  const readers = new WeakMap<Socket, ChunkReader>();
  server.on('connection', (socket: Socket) => {
    if (descriptorOf(socket) >= descriptors - RESERVED_DESCRIPTORS) socket.destroy();
  });
  // Under HTTPS, requests come through a socket of their own, which there is after the handshake.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (!socket.destroyed) readers.set(socket, new ChunkReader(socket, turns));
  });
  const turnsOf = new WeakMap<IncomingMessage, Promise<void>>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const reader = readers.get(request.socket);
    if (reader) turnsOf.set(request, reader.begin(request, response));
  });
  return (request) => turnsOf.get(request) ?? Promise.resolve();
}

/**
 * Passes the bytes of a connection to Node's HTTP parser in small pieces. It passes none while a request is being
 * answered or answers are waiting to be read.
 */
class ChunkReader {
  readonly #socket: Socket;
  readonly #turns: LoopTurns;
  #reading = false;
  #unanswered = 0;
  #latest: IncomingMessage | undefined;
  #answered = Promise.resolve();

  constructor(socket: Socket, turns: LoopTurns) {
    this.#socket = socket;
    this.#turns = turns;
    // With this listener, Node's parser does not read by itself; it gets only the bytes that are read here.
    socket.on('readable', () => this.#read()).on('drain', () => this.#read());
  }

  /** Registers a request. The promise resolves when all requests before it are answered. */
  begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const before = this.#answered;
    this.#unanswered++;
    this.#latest = request;
    this.#answered = new Promise((resolve) => {
      response.once('close', () => {
        this.#unanswered--;
        resolve();
        this.#read();
      });
    });
    return before;
  }

  #read(): void {
    // A stream notices its end only when it is read while empty.
    if (this.#socket.readableLength === 0) this.#socket.read();
    else if (!this.#reading && this.#mayRead) {
      this.#reading = true;
      this.#turns.take(() => {
        this.#reading = false;
        this.#socket.read(Math.min(CHUNK, this.#socket.readableLength));
        this.#read();
      }, CHUNK_MS);
    }
  }

  get #mayRead(): boolean {
    if (this.#socket.destroyed || this.#socket.writableNeedDrain) return false;
    return this.#unanswered === 0 || (this.#unanswered === 1 && this.#latest?.complete === false);
  }
}

/** The descriptor number of a socket. The system assigns the lowest free number, so all lower ones are in use. */
function descriptorOf(socket: Socket): number {
  const { _handle } = socket as { _handle?: { fd?: number } };
  return _handle?.fd ?? 0;
}

/** How many descriptors the process may have; no limit when the system does not report one. */
function descriptorLimit(): number {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
