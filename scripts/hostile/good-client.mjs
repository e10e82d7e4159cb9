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
/** An answer that has not come after this time, in ms, is lost. A busy machine may withhold seconds. */
const PATIENCE_MS = 20_000;
/** A network may lose datagrams, so a UDP client repeats its request; the time counts from the first one. */
const ASK_AGAIN_MS = 500;

/**
 * A line of the program, or its REST interface, as seen by clients. Plain data, because it is sent to another
 * process.
 * @typedef {object} Target
 * @property {string} line
 * @property {'tcp' | 'tls' | 'udp' | 'serial' | 'rest'} kind
 * @property {import('./frames.mjs').Framing} framing
 * @property {number} port 0 on a serial line.
 * @property {string} path Empty on a socket.
 * @property {string} [token] For REST.
 * @property {{cert: string, key: string, ca: string}} [tls] Paths of the client's PEM files.
 */

/** @typedef {{send: (bytes: Buffer) => void, close: () => Promise<unknown>}} Carrier */

/**
 * The observations of a client. `times` are in ms, from sending a request to the complete answer.
 * @typedef {{times: number[], lost: number, askedAgain: number}} Seen
 */

/** Reads the same registers repeatedly, with pauses, and checks every answer. */
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

  /** Polls until it is stopped. */
  start() {
    this.#stopped = false;
    this.#polling = this.#poll();
  }

  async stop() {
    this.#stopped = true;
    await this.#polling;
    await this.#hangUp();
  }

  /** Resolves when no answer is outstanding, or would no longer count. */
  async settled() {
    await this.#asking;
  }

  /** The observations since the last call. */
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
    // A repeated request may be answered twice.
    else if (bytes.length > 1 && bytes.readUInt16BE(0) === this.#transactionId) this.#received = bytes;
  }

  /** The time until the correct answer, in ms; undefined if it did not come. */
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
    // A request that is still being written when its time is up fails on closing, and counts as lost.
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

/**
 * The TLS options for a client of a line. @param {number} port @param {{cert: string, key: string, ca:
 * string}} files
 */
export function secure(port, { cert, key, ca }) {
  return {
    port,
    host: '127.0.0.1',
    cert: readFileSync(cert),
    key: readFileSync(key),
    ca: readFileSync(ca),
    // The name in the certificate does not matter here.
    checkServerIdentity: () => undefined,
  };
}
