import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { SerialLineDefinition } from '../../config/configuration.js';
import { openRealPort } from '../../transport/port/real-port.js';

/** Sends one query after the other. */
export interface Client {
  /** Resolves with whether the answer came, which is the bytes of the query themselves. */
  ask(request: Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

/** How long a reply may take, in ms: longer than any that is not lost. */
const TIMEOUT_MS = 3000;

/** A client on the other end of a virtual line: opens it as another program would. Else what is wrong, in words. */
export async function serialClient(
  path: string,
  { baudRate, dataBits, parity, stopBits }: SerialLineDefinition,
): Promise<Client | string> {
  const exchange = new Exchange();
  const opened = await openRealPort(
    { path, baudRate, dataBits, parity, stopBits },
    { onData: (chunk) => exchange.received(chunk), onDamaged: () => {}, onClose: () => {} },
  );
  if (!opened.ok) return opened.error;
  const { port } = opened;
  return { ask: (request) => exchange.ask(request, () => port.write(request)), close: () => port.close() };
}

/** A client of a TCP line on this machine. */
export async function tcpClient(host: string, port: number): Promise<Client | string> {
  const exchange = new Exchange();
  const socket = connect({ host, port, noDelay: true });
  const failed = await new Promise<Error | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).on('error', resolve);
  });
  if (failed) return failed.message;
  socket.on('data', (chunk) => exchange.received(chunk));
  return {
    ask: (request) => exchange.ask(request, () => socket.write(request)),
    close: async () => {
      socket.destroy();
    },
  };
}

/** A client of a UDP line on this machine. */
export async function udpClient(host: string, port: number): Promise<Client> {
  const exchange = new Exchange();
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (datagram) => exchange.received(datagram)).on('error', () => {});
  return {
    ask: (request) => exchange.ask(request, () => socket.send(request, port, host)),
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

/** A request is answered once its own bytes end what has come since it was sent. */
class Exchange {
  #pending: Uint8Array = new Uint8Array(0);
  #request: Uint8Array = new Uint8Array(0);
  #answered = () => {};

  received(chunk: Uint8Array): void {
    const { length } = this.#request;
    // What comes before it is a late answer to another one.
    this.#pending = Buffer.concat([this.#pending, chunk]).subarray(-length);
    if (this.#pending.length === length && this.#pending.every((byte, i) => byte === this.#request[i]))
      this.#answered();
  }

  ask(request: Uint8Array, send: () => void): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = setTimeout(() => resolve(false), TIMEOUT_MS);
      this.#pending = new Uint8Array(0);
      this.#request = request;
      this.#answered = () => {
        clearTimeout(timeout);
        resolve(true);
      };
      send();
    });
  }
}
