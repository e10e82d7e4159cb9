import { frame as encode, word } from './frame.mjs';

/** The content of a soak device: enough for the largest request of each function. */
const REGISTERS = 200;
const COILS = 2000;

/** @param {number} address */
const inputAt = (address) => (address * 257 + 3) & 0xffff;
/** @param {number} address */
const coilAt = (address) => (address % 3 === 0) !== (address % 7 === 0);

/** The device as a native configuration. */
export const soakDevice = {
  registers: {
    coils: [{ address: 0, value: Array.from({ length: COILS }, (_, i) => Number(coilAt(i))) }],
    holding: [{ address: 0, quantity: REGISTERS, write: true }],
    input: [{ address: 0, value: Array.from({ length: REGISTERS }, (_, i) => inputAt(i)) }],
  },
};

/**
 * A request and its only correct answer, both whole frames with unit identifier 1.
 * @typedef {{request: Buffer, answer: Buffer}} Transaction
 */

/**
 * Endless transactions with functions 1, 3, 4, 6 and 16: first the largest of each, followed by a mix of
 * mostly small ones. Reads must return the values written before. The same seed gives the same transactions.
 * @param {number} seed
 * @returns {Generator<Transaction, never>}
 */
export function* transactions(seed) {
  const random = randomNumbers(seed);
  /** @type {number[]} */
  const holding = Array(REGISTERS).fill(0);
  const make = [readHolding, writeMany, readInput, readCoils, writeOne];

  for (const quantity of [123, 125]) for (const kind of make) yield kind(0, quantity);
  for (;;) {
    const kind = /** @type {typeof readHolding} */ (make[random(make.length)]);
    const quantity = 1 + (random(20) === 0 ? random(120) : random(12));
    yield kind(random(REGISTERS - quantity), quantity);
  }

  /** @param {number} address @param {number} quantity @returns {Transaction} */
  function readHolding(address, quantity) {
    return readWords(3, address, holding.slice(address, address + quantity));
  }

  /** @param {number} address @param {number} quantity */
  function readInput(address, quantity) {
    const words = Array.from({ length: quantity }, (_, i) => inputAt(address + i));
    return readWords(4, address, words);
  }

  /** @param {number} address @param {number} quantity */
  function readCoils(address, quantity) {
    // Enough to fill the bytes that this many registers would.
    const bits = Math.min(quantity * 16, COILS - address) - (quantity % 8);
    const data = Buffer.alloc(Math.ceil(bits / 8));
    for (let i = 0; i < bits; i++)
      if (coilAt(address + i)) data[i >> 3] = (data[i >> 3] ?? 0) | (1 << (i & 7));
    return { request: frame(1, ...word(address), ...word(bits)), answer: frame(1, data.length, ...data) };
  }

  /** @param {number} address */
  function writeOne(address) {
    const value = random(0x10000);
    holding[address] = value;
    const request = frame(6, ...word(address), ...word(value));
    return { request, answer: request };
  }

  /** @param {number} address @param {number} wanted */
  function writeMany(address, wanted) {
    const quantity = Math.min(wanted, 123);
    const values = Array.from({ length: quantity }, () => random(0x10000));
    holding.splice(address, quantity, ...values);
    const head = [16, ...word(address), ...word(quantity)];
    return { request: frame(...head, 2 * quantity, ...values.flatMap(word)), answer: frame(...head) };
  }
}

/** @param {number} functionCode @param {number} address @param {number[]} words */
function readWords(functionCode, address, words) {
  return {
    request: frame(functionCode, ...word(address), ...word(words.length)),
    answer: frame(functionCode, 2 * words.length, ...words.flatMap(word)),
  };
}

/** A frame to the only unit. @param {number[]} pdu */
const frame = (...pdu) => encode(1, ...pdu);

/**
 * Random whole numbers below a limit (mulberry32).
 * @param {number} seed
 * @returns {(limit: number) => number}
 */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
