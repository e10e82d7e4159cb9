import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { LoopTurns } from './loop-turns.js';

/** The limit unless the configuration sets another. */
const MAX_CONNECTIONS = 64;

/** Connections that the system may queue. */
export const BACKLOG = 32;

/** File descriptors that stay free for the lines. */
const RESERVED_DESCRIPTORS = 32;

/**
 * Bytes that Node's parser gets at a time. 64 KiB could hold 2000 requests, and Node would start all of them at once.
 * A chunk ends with the header of a request. So few requests wait for the answer of another, each of which Node would
 * have to abort, at 0.05 ms, when the client disconnects.
 */
const CHUNK = 1024;

/** What ends the header of a request. */
const HEADER_END = '\r\n\r\n';

/**
 * Work in ms for a chunk besides passing it on: the system copies it, and V8 clears it away. The figure is estimated. It lets all
 * clients together send 12 MB/s.
 */
const CHUNK_MS = 0.04;

/** Calls back when a request may be answered: after all earlier requests on its connection. */
export type TurnOf = (request: IncomingMessage, begin: () => void) => void;

/**
 * Limits the number of connections, and reads from one connection, or cuts one that makes no progress, in each turn of
 * the event loop. Accepting needs no turns: libuv accepts one connection in each turn of the loop by itself.
 * @param descriptors how many file descriptors the process may have
 */
export function limitConnections(
  server: Server,
  turns: Pick<LoopTurns, 'take'>,
  maxConnections: number = MAX_CONNECTIONS,
  descriptors: number = descriptorLimit(),
): TurnOf {
  server.maxConnections = maxConnections;
  // Many clients may stop reading at the same time, and to end a connection costs some work.
  server.on('timeout', (socket: Socket) => turns.take(() => socket.destroy()));
  const readers = new WeakMap<Socket, ChunkReader>();
  server.on('connection', (socket: Socket) => {
    if (descriptorOf(socket) >= descriptors - RESERVED_DESCRIPTORS) socket.destroy();
  });
  // Under HTTPS, requests come through a socket of their own, which there is after the handshake.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (!socket.destroyed) readers.set(socket, new ChunkReader(socket, turns));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    readers.get(request.socket)?.received(request, response);
  });
  return (request, begin) => {
    const reader = readers.get(request.socket);
    if (reader) reader.inTurn(request, begin);
    else begin();
  };
}

interface Unanswered {
  readonly request: IncomingMessage;
  /** Begins the answer of a request that waits for those before it. */
  begin: (() => void) | undefined;
}

type Parser = (this: Socket, bytes: Buffer) => void;

/**
 * Passes the bytes of a connection to Node's HTTP parser in small pieces. It passes none while a request is being
 * answered or answers are waiting to be read. It is made after Node's own listeners are there.
 */
class ChunkReader {
  readonly #socket: Socket;
  readonly #turns: Pick<LoopTurns, 'take'>;
  readonly #parsers: readonly Parser[];
  #reading = false;
  /** The requests without a complete answer, in their order. */
  readonly #unanswered: Unanswered[] = [];

  constructor(socket: Socket, turns: Pick<LoopTurns, 'take'>) {
    this.#socket = socket;
    this.#turns = turns;
    this.#parsers = socket.listeners('data') as Parser[];
    socket.removeAllListeners('data');
    // With this listener, the socket does not read by itself. The parser gets only the bytes that are read here.
    socket.on('readable', () => this.#read()).on('drain', () => this.#read());
  }

  /** Registers a request. */
  received(request: IncomingMessage, response: ServerResponse): void {
    const unanswered: Unanswered = { request, begin: undefined };
    this.#unanswered.push(unanswered);
    response.once('close', () => {
      const place = this.#unanswered.indexOf(unanswered);
      this.#unanswered.splice(place, 1);
      if (place === 0) this.#unanswered[0]?.begin?.();
      this.#read();
    });
  }

  /** Calls `begin` when all requests before this one are answered. */
  inTurn(request: IncomingMessage, begin: () => void): void {
    const waiting = this.#unanswered.find((each, i) => i > 0 && each.request === request);
    if (waiting) waiting.begin = begin;
    else begin();
  }

  #read(): void {
    // A stream notices its end only when it is read while empty. Reading 0 bytes takes nothing that comes meanwhile.
    if (this.#socket.readableLength === 0) this.#socket.read(0);
    else if (!this.#reading && this.#mayRead) {
      this.#reading = true;
      this.#turns.take(() => {
        this.#reading = false;
        // Node gives the parser of a closed connection to another one.
        if (this.#mayRead) this.#pass();
        this.#read();
      }, CHUNK_MS);
    }
  }

  #pass(): void {
    const isBetweenRequests = this.#unanswered.length === 0;
    const passed = this.#passPiece(CHUNK, HEADER_END);
    const [begun] = this.#unanswered;
    if (!isBetweenRequests || !begun || !this.#mayRead) return;
    // A short body that has come with its header needs no turn of its own. The next request begins behind it.
    const bodyLength = Number(begun.request.headers['content-length']);
    if (bodyLength <= CHUNK - passed) this.#passPiece(bodyLength);
  }

  /** Passes up to `length` bytes on, no more than to the end of `end`. @returns how many */
  #passPiece(length: number, end?: string): number {
    const bytes: Buffer | null = this.#socket.read(Math.min(length, this.#socket.readableLength));
    if (!bytes) return 0;
    const endsAt = end === undefined ? -1 : bytes.indexOf(end);
    const piece = end === undefined || endsAt < 0 ? bytes : bytes.subarray(0, endsAt + end.length);
    // The rest is put back before the parser may destroy the socket.
    if (piece.length < bytes.length) this.#socket.unshift(bytes.subarray(piece.length));
    for (const parse of this.#parsers) parse.call(this.#socket, piece);
    return piece.length;
  }

  get #mayRead(): boolean {
    if (this.#socket.destroyed || this.#socket.writableNeedDrain) return false;
    const { length, 0: first } = this.#unanswered;
    return length === 0 || (length === 1 && first?.request.complete === false);
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
