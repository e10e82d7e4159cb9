import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { failure, type Result, success } from '../../common/result.js';
import type { SerialLineDefinition } from '../../document/configuration.js';
import { openRealPort } from '../../modbus/transport/port/real-port.js';

export interface QueryClient {
  /** Sends `request` and waits at most `patience` ms for the bytes of `reply`. */
  ask(request: Uint8Array, reply: Uint8Array, patience: number): Promise<QueryResult>;
  close(): Promise<void>;
}

/** The result of a query. `closed`: the other end closed the connection, before or after the query. */
type QueryResult = 'answered' | 'unanswered' | 'closed';

/** A client on the other end of a virtual line, which it opens like another program would; or why there is none. */
export async function serialClient(
  path: string,
  { baudRate, dataBits, parity, stopBits }: SerialLineDefinition,
): Promise<Result<QueryClient>> {
  const exchange = new QueryExchange();
  const opened = await openRealPort(
    { path, baudRate, dataBits, parity, stopBits },
    { onData: (chunk) => exchange.received(chunk), onDamaged: () => {}, onClose: () => exchange.closed() },
  );
  if (!opened.ok) return opened;
  const { port } = opened;
  return success({ ask: exchange.asking((request) => port.write(request)), close: () => port.close() });
}

/** A client of a TCP line on this machine; or why it could not connect. */
export async function tcpClient(host: string, port: number): Promise<Result<QueryClient>> {
  const exchange = new QueryExchange();
  const socket = connect({ host, port, noDelay: true });
  const failed = await new Promise<Error | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).on('error', resolve);
  });
  if (failed) return failure(failed.message);
  socket.on('data', (chunk) => exchange.received(chunk)).on('close', () => exchange.closed());
  return success({
    ask: exchange.asking((request) => socket.write(request)),
    close: async () => {
      socket.destroy();
    },
  });
}

export function udpClient(host: string, port: number): QueryClient {
  const exchange = new QueryExchange();
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (datagram) => exchange.received(datagram)).on('error', () => {});
  return {
    ask: exchange.asking((request) => socket.send(request, port, host)),
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

/** Handles one query at a time. A query is answered if the bytes received since it was sent end with its reply. */
class QueryExchange {
  #pending: Uint8Array = new Uint8Array(0);
  #reply: Uint8Array = new Uint8Array(0);
  #isClosed = false;
  #ended: (asked: QueryResult) => void = () => {};

  received(chunk: Uint8Array): void {
    const { length } = this.#reply;
    // Bytes before the reply are a late reply to an earlier query.
    this.#pending = Buffer.concat([this.#pending, chunk]).subarray(-length);
    if (this.#pending.length === length && this.#pending.every((byte, i) => byte === this.#reply[i]))
      this.#ended('answered');
  }

  closed(): void {
    this.#isClosed = true;
    this.#ended('closed');
  }

  asking(send: (request: Uint8Array) => void): QueryClient['ask'] {
    return (request, reply, patience) =>
      new Promise((resolve) => {
        if (this.#isClosed) {
          resolve('closed');
          return;
        }
        const timeout = setTimeout(() => resolve('unanswered'), patience);
        this.#pending = new Uint8Array(0);
        this.#reply = reply;
        this.#ended = (asked) => {
          clearTimeout(timeout);
          resolve(asked);
        };
        send(request);
      });
  }
}
