import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeMbap, type MbapFrame } from '../../../../src/modbus/protocol/mbap.js';

/** Waits until `holds`, at most `timeoutMs`: a generous bound for what should come soon. */
export async function until(holds: () => boolean, what: string, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await sleep(2);
  }
}

/** A client without manners: sends any bytes and keeps what comes back. */
export class RawClient {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  closed = false;
  connected = false;
  /** performance.now() when the last byte came. */
  lastAt = 0;

  /** @param to a port of `host`, or a connection that is opening */
  constructor(to: number | Socket, host = '127.0.0.1', { allowHalfOpen = false } = {}) {
    this.socket = typeof to === 'number' ? connect({ port: to, host, noDelay: true, allowHalfOpen }) : to;
    this.socket.on('connect', () => {
      this.connected = true;
    });
    this.socket.on('data', (chunk) => {
      this.lastAt = performance.now();
      this.received = Buffer.concat([this.received, chunk]);
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The complete responses received so far. */
  get responses(): MbapFrame[] {
    const frames: MbapFrame[] = [];
    let rest: Uint8Array = new Uint8Array(this.received);
    for (let decoded = decodeMbap(rest); decoded.kind === 'frame'; decoded = decodeMbap(rest)) {
      frames.push(decoded.frame);
      rest = rest.subarray(decoded.length);
    }
    return frames;
  }

  async responsesOf(count: number): Promise<MbapFrame[]> {
    await until(() => this.closed || this.responses.length >= count, `${count} responses have come`);
    return this.responses;
  }

  /** Sends PDUs in hexadecimal digits to unit 1, one after the other, and waits for each answer. */
  async askAll(...pdus: string[]): Promise<void> {
    for (const pdu of pdus) {
      const before = this.responses.length;
      const length = (pdu.length / 2 + 1).toString(16).padStart(4, '0');
      this.send(Buffer.from(`00010000${length}01${pdu}`, 'hex'));
      await this.responsesOf(before + 1);
    }
  }

  async end(): Promise<void> {
    this.socket.destroy();
    await until(() => this.closed, 'the client is closed');
  }
}
