import { createServer, type Server, type Socket } from 'node:net';
import type { Binding, BindingContext, Bound } from './binding.js';
import { type Channel, DirectChannel, StreamChannel } from './channel.js';
import type { ClientIdentity } from './client-list.js';
import { cannotListen, clientAddress, listen, STOPPED } from './listen.js';
import { TcpConnection } from './tcp-connection.js';

/** Finds clients whose machine vanished without closing the connection. */
const KEEP_ALIVE_MS = 30_000;

/** A TCP connection that was accepted, before it is a client. */
export interface Accepted extends ClientIdentity {
  readonly raw: Socket;
}

/** A listening TCP socket: Modbus TCP (Messaging on TCP/IP V1.0b), or other framings. Every connection is a client. */
export class TcpBinding implements Binding {
  readonly #context: BindingContext;
  readonly #server: Server;
  #isClosed = false;

  /** @param accepted takes over each connection; without it, every connection becomes a client at once */
  constructor(
    context: BindingContext,
    accepted: (accepted: Accepted) => void = (plain) => admitPlain(context, plain),
  ) {
    this.#context = context;
    this.#server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    this.#server.on('connection', (raw) => {
      if (this.#isClosed) raw.destroy();
      else accepted({ raw, ...context.clients.identify(clientAddress(raw)) });
    });
  }

  async open(): Promise<Bound> {
    const { host, port } = this.#context.settings;
    if (this.#isClosed) return cannotListen(host, port, STOPPED);
    const listening = await listen(this.#server, host, port);
    if (!listening.ok) return listening;
    this.#server.on('error', (error) => this.#onError(error));
    return { ...listening, notes: [] };
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** A connection that could not be accepted, mostly for want of file descriptors, does not end the line. */
  #onError(error: NodeJS.ErrnoException): void {
    const { clients, failed } = this.#context;
    if (this.#isClosed) return;
    if (error.syscall === 'accept') clients.turnAway(clients.identify('unknown'), 'limit', error.message);
    else failed(error);
  }
}

function admitPlain(context: BindingContext, accepted: Accepted): void {
  const channel = DirectChannel.of(accepted.raw) ?? new StreamChannel(accepted.raw);
  admit(context, { ...accepted, raw: channel.socket }, channel);
}

/**
 * Makes a connection a client if there is room; otherwise it waits, or is closed, as the line says.
 * @param channel carries the requests: the connection itself, or TLS on it
 * @param role the role that the client's certificate gives it
 */
export function admit(
  { clients, handler, framing, settings }: BindingContext,
  { client, clientId, raw }: Accepted,
  channel: Channel,
  role?: string,
): void {
  const identity = { client, clientId };
  const { pipelining = 'serve' } = settings;
  const options = { identity, channel, raw, framing, handler, clients, pipelining };
  if (clients.makeRoom(identity)) clients.add(new TcpConnection(options), role);
  else if (clients.mayWait) clients.wait(new TcpConnection({ ...options, isHeld: true }), role);
  else {
    channel.socket.on('error', () => {});
    channel.socket.destroy();
  }
}
