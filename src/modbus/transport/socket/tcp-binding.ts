import { createServer, type Server, type Socket } from 'node:net';
import { failure, type Result, success } from '../../../common/result.js';
import type { TlsFiles } from '../settings.js';
import { type Channel, DirectChannel, StreamChannel } from './channel.js';
import { type ClientIdentity, NO_DESCRIPTORS } from './client-list.js';
import {
  type Binding,
  type BindingContext,
  cannotListen,
  clientAddress,
  type Listening,
  listen,
  STOPPED,
} from './listen.js';
import { TcpConnection } from './tcp-connection.js';
import type { TlsHandshakes } from './tls.js';

/**
 * The time before a keep-alive probe, in ms. Probes detect clients whose machine vanished without closing the
 * connection.
 */
const KEEP_ALIVE_MS = 30_000;

const NO_CA = 'clients are not authenticated: no CA is configured';

/** An accepted TCP connection that is not a client yet. */
interface Accepted {
  readonly raw: Socket;
  readonly identity: ClientIdentity;
}

/**
 * A listening TCP socket for Modbus TCP (Messaging on TCP/IP V1.0b) or other framings. Every connection is a
 * client; with Modbus/TCP Security, once its TLS handshake is done.
 */
export class TcpBinding implements Binding {
  readonly #context: BindingContext;
  readonly #handshakeTimeoutMs: number;
  readonly #server: Server;
  /** The handshakes; absent without TLS, and until the credentials have been read. */
  #handshakes: TlsHandshakes | undefined;
  #isClosed = false;

  constructor(context: BindingContext, handshakeTimeoutMs: number) {
    this.#context = context;
    this.#handshakeTimeoutMs = handshakeTimeoutMs;
    this.#server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    this.#server.on('connection', (raw) => {
      if (this.#isClosed) {
        raw.destroy();
        return;
      }
      const identity = context.clients.identify(clientAddress(raw), context.host);
      if (this.#handshakes) this.#shakeHands({ raw, identity }, this.#handshakes);
      else {
        const channel = DirectChannel.of(raw) ?? new StreamChannel(raw);
        this.#admit({ raw: channel.socket, identity }, channel);
      }
    });
  }

  /** Opens the socket. The files of a TLS line are read now. */
  async open(): Promise<Listening> {
    const { host, port, files } = this.#context.settings;
    const notes = files && (await this.#prepareTls(files));
    if (notes && !notes.ok) return cannotListen(host, port, notes.error);
    if (this.#isClosed) return cannotListen(host, port, STOPPED);
    const listening = await listen(this.#server, host, port);
    if (!listening.ok) return listening;
    this.#server.on('error', (error) => this.#onError(error));
    return notes ? { ...listening, notes: notes.value } : listening;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#handshakes?.abortAll();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /**
   * Reads the files and starts accepting handshakes.
   * @returns what the user should know; or what is wrong with the files
   */
  async #prepareTls(files: TlsFiles): Promise<Result<readonly string[]>> {
    // Most lines have no TLS, and the module that reads certificates is large.
    const { readTlsCredentials, TlsHandshakes } = await import('./tls.js');
    const read = await readTlsCredentials(files);
    if (!read.ok) return failure(read.error);
    this.#handshakes = new TlsHandshakes(read.credentials, this.#handshakeTimeoutMs);
    return success(files.ca === undefined ? [...read.notes, NO_CA] : read.notes);
  }

  #shakeHands(accepted: Accepted, handshakes: TlsHandshakes): void {
    const { clients, settings } = this.#context;
    const isSpent = this.#context.descriptors() === 'spent';
    if (isSpent && handshakes.count === 0) {
      clients.turnAway(accepted.identity, 'limit', NO_DESCRIPTORS);
      discard(accepted.raw);
      return;
    }
    if (isSpent || handshakes.count >= settings.maxClients) {
      handshakes.abortOldest(
        `the oldest of ${handshakes.count} TLS handshakes was ended to make room for a new one`,
      );
    }
    handshakes.begin(accepted.raw, (handshake) => {
      // Only now may the connection take the place of another: anyone can begin a handshake.
      if (handshake.ok) this.#admit(accepted, new StreamChannel(handshake.socket), handshake.role);
      else clients.turnAway(accepted.identity, handshake.reason, handshake.error);
    });
  }

  /**
   * Makes a connection a client if there is room; otherwise the connection waits or is closed, depending on
   * the line.
   * @param channel carries the requests: the connection itself, or TLS on it
   * @param role the role in the client's certificate
   */
  #admit(accepted: Accepted, channel: Channel, role?: string): void {
    const { clients } = this.#context;
    const options = { ...accepted, channel, context: this.#context };
    const descriptors = this.#context.descriptors();
    if (clients.makeRoom(accepted.identity, descriptors)) clients.add(new TcpConnection(options), role);
    else if (clients.mayWait(descriptors))
      clients.wait(new TcpConnection({ ...options, isHeld: true }), role);
    else discard(channel.socket);
  }

  /**
   * Handles an error of the server. A connection that could not be accepted, usually for lack of file
   * descriptors, does not end the line.
   */
  #onError(error: NodeJS.ErrnoException): void {
    const { clients, failed, host } = this.#context;
    if (this.#isClosed) return;
    if (error.syscall === 'accept')
      clients.turnAway(clients.identify('unknown', host), 'limit', error.message);
    else failed(error);
  }
}

function discard(socket: Socket): void {
  socket.on('error', () => {});
  socket.destroy();
}
