import { createServer, type Server } from 'node:net';
import { type Framing, SOCKET } from '../../protocol/framing.js';
import type { TlsFiles } from '../settings.js';
import type { LineHandler, LineState, Transport, TransportStart } from '../transport.js';
import { hostPort } from './address.js';
import { ALREADY_OPEN, cannotListen, listen, type NotListening, STOPPED } from './listen.js';
import { TcpClients } from './tcp-clients.js';
import { readTlsCredentials } from './tls-credentials.js';
import { TlsHandshakes } from './tls-handshakes.js';

export interface TcpLineSettings {
  /** An IP address or a name; `::` is all addresses of both families. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Default `SOCKET`, Modbus TCP; RTU or ASCII over TCP. */
  readonly framing?: Framing;
  /** Modbus/TCP Security: connections are TLS ones. The files are read at each start. */
  readonly tls?: TlsFiles;
  /** Connections at one time, and as many TLS handshakes beside them; default 256. */
  readonly maxClients?: number;
  /** A connection without a complete request for so long is closed; default 5 minutes. */
  readonly idleTimeoutMs?: number;
  /** A client that has left more than 64 KiB of replies unread for so long is dropped; default 10 s. */
  readonly slowTimeoutMs?: number;
  /** How long a TLS handshake may take; default 10 s. */
  readonly handshakeTimeoutMs?: number;
}

const DEFAULTS = {
  framing: SOCKET,
  tls: undefined,
  maxClients: 256,
  idleTimeoutMs: 5 * 60_000,
  slowTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
};

type Settings = Required<Omit<TcpLineSettings, 'tls'>> & { readonly tls: TlsFiles | undefined };

/** Finds clients whose machine vanished without a word. */
const KEEP_ALIVE_MS = 30_000;

type Secured =
  | { readonly ok: true; readonly handshakes?: TlsHandshakes; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** A listening TCP socket with its clients: Modbus TCP (Messaging on TCP/IP V1.0b), with TLS or other framings too. */
export class TcpLine implements Transport {
  readonly #settings: Settings;
  readonly #handler: LineHandler;
  readonly #clients: TcpClients;
  #server: Server | undefined;
  #state: LineState = { kind: 'stopped' };

  constructor(settings: TcpLineSettings, handler: LineHandler) {
    this.#settings = { ...DEFAULTS, ...settings };
    this.#handler = handler;
    this.#clients = new TcpClients(this.#settings, handler);
  }

  get state(): LineState {
    return this.#state;
  }

  get clients(): number {
    return this.#clients.count;
  }

  async start(): Promise<TransportStart> {
    const { host, port } = this.#settings;
    if (this.#server !== undefined) return cannotListen(host, port, ALREADY_OPEN);
    const server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    this.#server = server;
    const secured = await this.#secure();
    if (!secured.ok) return this.#failed(server, cannotListen(host, port, secured.reason));
    if (this.#server !== server) return cannotListen(host, port, STOPPED);
    server.on('connection', (socket) => {
      if (this.#server === server) this.#clients.accept(socket);
      else socket.destroy();
    });
    const listening = await listen(server, host, port);
    if (!listening.ok) return this.#failed(server, listening);
    const place = hostPort(listening.address, listening.port);
    this.#clients.open(secured.handshakes);
    server.on('error', (error) => this.#onError(server, place, error));
    this.#state = { kind: 'open', place };
    this.#handler.event({ kind: 'open', place, notes: secured.notes });
    return { ok: true, place };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    await this.#close('the line was stopped');
  }

  async #close(text: string): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.#clients.close(text);
    await closed;
  }

  async #secure(): Promise<Secured> {
    const { tls, handshakeTimeoutMs } = this.#settings;
    if (tls === undefined) return { ok: true, notes: [] };
    const read = await readTlsCredentials(tls);
    if (!read.ok) return read;
    return {
      ok: true,
      handshakes: new TlsHandshakes(read.credentials, handshakeTimeoutMs),
      notes: read.notes,
    };
  }

  /** The line did not open. One that was stopped meanwhile stays stopped. */
  #failed(server: Server, failure: NotListening): NotListening {
    if (this.#server === server) {
      this.#server = undefined;
      this.#state = { kind: 'failed', reason: failure.error };
    }
    return failure;
  }

  /** An error of the listening socket; one client that could not be accepted is no end of the line. */
  #onError(server: Server, place: string, error: NodeJS.ErrnoException): void {
    if (this.#server !== server) return;
    const reason = `${place}: ${error.message}`;
    if (error.syscall === 'accept') {
      this.#clients.missed(error.message);
      return;
    }
    this.#state = { kind: 'failed', reason };
    void this.#close(reason);
    this.#handler.event({ kind: 'failed', text: reason });
  }
}
