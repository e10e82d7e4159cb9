import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { SerialLineDefinition } from '../../config/configuration.js';
import type { Framing } from '../../protocol/framing.js';
import { openRealPort } from '../../transport/port/real-port.js';

/** Asks one question after the other. */
export interface Client {
  /** Resolves with whether a valid frame came back. */
  ask(request: Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

/** How long a reply may take, in ms: longer than any that is not lost. */
const TIMEOUT_MS = 3000;

/** A client on the other end of a virtual line: opens it as another program would. Else what is wrong, in words. */
export async function serialClient(
  path: string,
  { baudRate, dataBits, parity, stopBits }: SerialLineDefinition,
  framing: Framing,
): Promise<Client | string> {
  const frames = new FrameExchange(framing);
  const opened = await openRealPort(
    { path, baudRate, dataBits, parity, stopBits },
    { onData: (chunk) => frames.received(chunk), onDamaged: () => {}, onClose: () => {} },
  );
  if (!opened.ok) return opened.error;
  const { port } = opened;
  return { ask: (request) => frames.ask(() => port.write(request)), close: () => port.close() };
}

/** A client of a TCP line on this machine. */
export async function tcpClient(host: string, port: number, framing: Framing): Promise<Client | string> {
  const frames = new FrameExchange(framing);
  const socket = connect({ host, port, noDelay: true });
  const failed = await new Promise<Error | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).on('error', resolve);
  });
  if (failed) return failed.message;
  socket.on('data', (chunk) => frames.received(chunk));
  return {
    ask: (request) => frames.ask(() => socket.write(request)),
    close: async () => {
      socket.destroy();
    },
  };
}

/** A client of a UDP line on this machine. */
export async function udpClient(host: string, port: number, framing: Framing): Promise<Client> {
  const frames = new FrameExchange(framing);
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (datagram) => frames.received(datagram)).on('error', () => {});
  return {
    ask: (request) => frames.ask(() => socket.send(request, port, host)),
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

/** A request is answered once what has come since is a valid frame. */
class FrameExchange {
  readonly #framing: Framing;
  #pending: Uint8Array = new Uint8Array(0);
  #answered = () => {};

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  received(chunk: Uint8Array): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    if (this.#framing.decode(this.#pending) !== undefined) this.#answered();
  }

  ask(send: () => void): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = setTimeout(() => resolve(false), TIMEOUT_MS);
      this.#pending = new Uint8Array(0);
      this.#answered = () => {
        clearTimeout(timeout);
        resolve(true);
      };
      send();
    });
  }
}
