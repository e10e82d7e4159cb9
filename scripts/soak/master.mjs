import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { SerialPort } from 'serialport';

/**
 * An answer with its times in ms of `performance.now()`: `sentAt` just before the request was written,
 * `firstAt` when the first byte of the answer arrived, `lastAt` when the last did.
 * @typedef {{bytes: Buffer, sentAt: number, firstAt: number, lastAt: number}} Answer
 */

/**
 * A minimal Modbus RTU master: sends bytes, waits for the given number of bytes or an exception response, and
 * keeps t3.5 between an answer and the next request. It shares no code with the program under test.
 */
export class Master {
  #port;
  #pause;
  #lastAt = 0;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  #firstAt = 0;
  #wanted = 0;
  /** @type {((complete: boolean) => void) | undefined} */
  #settle;
  /** Number of bytes that came when none were expected. */
  strayBytes = 0;

  /**
   * @param {SerialPort} port open
   * @param {number} pause between the last byte received and the next request, in ms
   */
  constructor(port, pause) {
    this.#port = port;
    this.#pause = pause;
    port.on('data', (chunk) => this.#receive(chunk));
  }

  /**
   * @param {string} path
   * @param {number} baudRate
   * @param {number} pause in ms
   */
  static async open(path, baudRate, pause) {
    const port = new SerialPort({ path, baudRate, parity: 'none' });
    await once(port, 'open');
    return new Master(port, pause);
  }

  /**
   * Sends a request; undefined if the answer was not complete after `timeout` ms.
   * @param {Buffer} request
   * @param {number} length of the answer expected, in bytes
   * @param {number} timeout
   * @returns {Promise<Answer | undefined>}
   */
  async exchange(request, length, timeout) {
    for (let left = this.#left(); left > 0; left = this.#left()) await delay(Math.ceil(left));
    this.strayBytes += this.#received.length;
    this.#received = Buffer.alloc(0);
    this.#wanted = length;
    const sentAt = performance.now();
    this.#port.write(request);
    const complete = await this.#untilComplete(timeout);
    this.#settle = undefined;
    if (!complete) return undefined;
    const bytes = this.#received;
    this.#received = Buffer.alloc(0);
    return { bytes, sentAt, firstAt: this.#firstAt, lastAt: this.#lastAt };
  }

  async close() {
    await new Promise((resolve) => this.#port.close(resolve));
  }

  #left() {
    return this.#lastAt + this.#pause - performance.now();
  }

  /** @param {number} timeout @returns {Promise<boolean>} */
  #untilComplete(timeout) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeout);
      this.#settle = (complete) => {
        clearTimeout(timer);
        resolve(complete);
      };
    });
  }

  /** @param {Buffer} chunk */
  #receive(chunk) {
    this.#lastAt = performance.now();
    if (this.#received.length === 0) this.#firstAt = this.#lastAt;
    this.#received = Buffer.concat([this.#received, chunk]);
    const isException = this.#received.length === 5 && (this.#received[1] ?? 0) > 0x7f;
    if (this.#received.length >= this.#wanted || isException) this.#settle?.(true);
  }
}
