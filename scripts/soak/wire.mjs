import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { SerialPort } from 'serialport';

/** Waits shorter than timers of whole milliseconds allow are made by polling in turns of the event loop. */
const WATCHED_MS = 2;

/** Both wires of a bus, and all devices on it except the simulator: one frame at a time, with t3.5 in between. */
export class Wire {
  #port;
  #t35;
  #characterTime;
  #freeAt = 0;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);

  /** @param {SerialPort} port open @param {number} baudRate @param {number} t35 in ms */
  constructor(port, baudRate, t35) {
    this.#port = port;
    this.#t35 = t35;
    this.#characterTime = 10_000 / baudRate;
    port.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#freeAt = Math.max(this.#freeAt, performance.now());
    });
  }

  /** @param {string} path @param {number} baudRate @param {number} t35 */
  static async open(path, baudRate, t35) {
    const port = new SerialPort({ path, baudRate, parity: 'none' });
    await once(port, 'open');
    return new Wire(port, baudRate, t35);
  }

  /** Puts a frame on the wire, t3.5 and `pause` ms after the previous one. @param {Buffer} bytes */
  async say(bytes, pause = 0) {
    for (;;) {
      const left = this.#freeAt + this.#t35 + pause - performance.now();
      if (left <= 0) break;
      if (left > WATCHED_MS) await delay(left - WATCHED_MS);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    this.#freeAt = performance.now() + bytes.length * this.#characterTime;
    this.#port.write(bytes);
  }

  /** Lets this much time pass in silence. @param {number} ms */
  async rest(ms) {
    await delay(this.#freeAt - performance.now() + ms);
  }

  /**
   * Returns what the simulator has sent since the last call; waits for `length` bytes, at most `limit` ms.
   * @param {number} length @param {number} limit
   */
  async hear(length, limit) {
    const giveUpAt = performance.now() + limit;
    while (this.#received.length < length && performance.now() < giveUpAt) await delay(1);
    return this.take();
  }

  /** Returns what the simulator has sent since the last call. */
  take() {
    const taken = this.#received;
    this.#received = Buffer.alloc(0);
    return taken;
  }

  async close() {
    await new Promise((resolve) => this.#port.close(resolve));
  }
}
