import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { SerialPort } from 'serialport';
import { adu, READ, READ_RESPONSE, UNIT } from './frames.mjs';

/** The pause between an answer and the next request, in ms. */
const PAUSE_MS = 6;
/** An answer that has not come by then is lost. */
const PATIENCE_MS = 3000;
/** A network may lose datagrams, so a client of UDP asks again; the time counts from the first attempt. */
const ASK_AGAIN_MS = 500;

/**
 * A line of the program, or its REST interface, as clients know it. Plain data: it is sent to another process.
 * @typedef {object} Target
 * @property {string} line
 * @property {'tcp' | 'tls' | 'udp' | 'serial' | 'rest'} kind
 * @property {import('./frames.mjs').Framing} framing
 * @property {number} port 0 on a serial line.
 * @property {string} path Empty on a socket.
 * @property {string} [token] Of REST.
 * @property {{cert: string, key: string, ca: string}} [tls] Paths of PEM files of the client.
 */

/** @typedef {{send: (bytes: Buffer) => void, close: () => Promise<unknown>}} Carrier */

/**
 * What a client has seen. `times` are ms from sending to the whole answer.
 * @typedef {{times: number[], lost: number, askedAgain: number}} Seen
 */

/** Asks for the same registers again and again, takes its time in between, and looks at every answer. */
export class GoodClient {
  #target;
  /** @type {Carrier | undefined} */
  #carrier;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  #transactionId = 0;
  /** @type {(() => void) | undefined} */
  #arrived;
  /** @type {Seen} */
  #seen = { times: [], lost: 0, askedAgain: 0 };
  /** @type {Promise<void> | undefined} */
  #polling;
  #stopped = true;
  /** @type {Promise<unknown> | undefined} */
  #asking;

  /** @param {Target} target */
  constructor(target) {
    this.#target = target;
  }

  /** Asks until it is stopped. */
  start() {
    this.#stopped = false;
    this.#polling = this.#poll();
  }

  async stop() {
    this.#stopped = true;
    await this.#polling;
    await this.#hangUp();
  }

  /** Resolves when no answer is waited for, or would not be counted any more. */
  async settled() {
    await this.#asking;
  }

  /** What was seen since the last call. */
  take() {
    const seen = this.#seen;
    this.#seen = { times: [], lost: 0, askedAgain: 0 };
    return seen;
  }

  async #poll() {
    while (!this.#stopped) {
      const asking = this.#ask();
      this.#asking = asking;
      const time = await asking;
      if (time === undefined) {
        this.#seen.lost++;
        await this.#hangUp();
      } else this.#seen.times.push(time);
      await delay(PAUSE_MS);
    }
  }

  /** @param {Buffer} bytes */
  #receive(bytes) {
    if (this.#target.kind !== 'udp') this.#received = Buffer.concat([this.#received, bytes]);
    // Asked again, an earlier request is answered twice.
    else if (bytes.length > 1 && bytes.readUInt16BE(0) === this.#transactionId) this.#received = bytes;
  }

  /** The time that the right answer took, in ms; undefined when it did not come. */
  async #ask() {
    this.#carrier ??= await open(this.#target, (bytes) => {
      this.#receive(bytes);
      this.#arrived?.();
    }).catch(() => undefined);
    if (this.#carrier === undefined) return undefined;
    const { framing } = this.#target;
    this.#transactionId = (this.#transactionId + 1) & 0xffff;
    const expected = adu(framing, READ_RESPONSE, UNIT, this.#transactionId);
    const request = adu(framing, READ, UNIT, this.#transactionId);
    this.#received = Buffer.alloc(0);
    const carrier = this.#carrier;
    const sentAt = performance.now();
    carrier.send(request);
    const again = setInterval(() => {
      if (this.#target.kind !== 'udp') return;
      this.#seen.askedAgain++;
      carrier.send(request);
    }, ASK_AGAIN_MS);
    await this.#until(expected.length);
    clearInterval(again);
    return this.#received.equals(expected) ? performance.now() - sentAt : undefined;
  }

  /** @param {number} length */
  #until(length) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
      this.#arrived = () => {
        if (this.#received.length < length) return;
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }

  async #hangUp() {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    await carrier?.close();
  }
}

/**
 * @param {Target} target
 * @param {(bytes: Buffer) => void} received
 * @returns {Promise<Carrier>}
 */
async function open({ kind, port, path, tls }, received) {
  if (kind === 'serial') {
    const serial = new SerialPort({ path, baudRate: 115200, autoOpen: false });
    await new Promise((resolve, reject) =>
      serial.open((error) => (error ? reject(error) : resolve(undefined))),
    );
    // A request that is still being written when its time is over fails with the closing; it is counted as lost.
    serial.on('error', () => {}).on('data', received);
    return {
      send: (bytes) => void serial.write(bytes),
      close: () => new Promise((resolve) => serial.close(resolve)),
    };
  }
  if (kind === 'udp') {
    const socket = createSocket('udp4').on('message', received);
    return {
      send: (bytes) => socket.send(bytes, port, '127.0.0.1'),
      close: () => new Promise((resolve) => socket.close(() => resolve(undefined))),
    };
  }
  const socket = tls ? connectTls(secure(port, tls)) : connect(port, '127.0.0.1');
  await once(socket, tls ? 'secureConnect' : 'connect');
  socket.setNoDelay(true);
  socket.on('error', () => {}).on('data', received);
  return {
    send: (bytes) => void socket.write(bytes),
    close: async () => {
      const closed = socket.closed ? undefined : once(socket, 'close');
      socket.destroy();
      await closed;
    },
  };
}

/** What a TLS client of a line needs. @param {number} port @param {{cert: string, key: string, ca: string}} files */
export function secure(port, { cert, key, ca }) {
  return {
    port,
    host: '127.0.0.1',
    cert: readFileSync(cert),
    key: readFileSync(key),
    ca: readFileSync(ca),
    // The name in the certificate is not what is looked at here.
    checkServerIdentity: () => undefined,
  };
}
