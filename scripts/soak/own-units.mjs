import { frame, word } from './frame.mjs';

/** Our unit identifiers on the shared bus. */
export const OWN = [17, 34];
/**
 * Number of registers and coils that the master reads and writes. Above them are as many that must never be
 * written.
 */
const SIZE = 40;
/** The content of those, at which misleading frames are aimed. */
export const CANARY = { address: SIZE, value: 0x5a5a };
const NO_FUNCTION = 0x41;

/** Each of our devices as a native configuration. */
export const ownDevice = {
  identity: { vendorName: 'Example Co', productCode: 'EX-1', majorMinorRevision: '1.2' },
  registers: {
    coils: [{ address: 0, quantity: 2 * SIZE, write: true }],
    holding: [
      { address: 0, quantity: SIZE, write: true },
      { address: CANARY.address, value: Array(SIZE).fill(CANARY.value), write: true },
    ],
  },
};

/** The expected content of a unit. @typedef {{unitId: number, holding: number[], coils: number[]}} Image */

/**
 * A request to one of our units and its only correct answer; a broadcast has none. @typedef {{name: string,
 * request: Buffer, answer: Buffer | undefined}} Own
 */

/** @returns {Image[]} */
export function newImages() {
  return OWN.map((unitId) => ({
    unitId,
    holding: [...Array(SIZE).fill(0), ...Array(SIZE).fill(CANARY.value)],
    coils: Array(2 * SIZE).fill(0),
  }));
}

/**
 * Reads the whole content of a unit, including the part that is never written. @param {Image} image @returns
 * {Own[]}
 */
export function readAll({ unitId, holding, coils }) {
  return [readHolding(unitId, holding, 0, 2 * SIZE), readCoils(unitId, coils, 0, 2 * SIZE)];
}

/**
 * Requests to our units, with every kind of answer. Each word written differs from the previous one.
 * @param {Image[]} images updated with the values written
 * @param {(limit: number) => number} random
 */
export function ownRequests(images, random) {
  let last = 0;
  const unique = () => {
    last = (last + 1) % 0x5a00;
    return last;
  };
  const place = (/** @type {number} */ most) => {
    const quantity = 1 + random(most);
    return { address: random(SIZE - quantity), quantity };
  };

  /** @param {number} unitId @param {Image[]} written @returns {Own} */
  const write = (unitId, written) => {
    const { address, quantity } = place(12);
    const words = Array.from({ length: quantity }, unique);
    const bits = Array.from({ length: quantity }, () => random(2));
    /** @param {'holding' | 'coils'} table @param {number[]} values */
    const put = (table, values) =>
      written.forEach((image) => void image[table].splice(address, values.length, ...values));
    const answered = (/** @type {Buffer} */ answer) => (unitId === 0 ? undefined : answer);
    switch (random(4)) {
      case 0: {
        put('holding', words.slice(0, 1));
        const request = frame(unitId, 6, ...word(address), ...word(words[0] ?? 0));
        return { name: 'write register', request, answer: answered(request) };
      }
      case 1: {
        put('coils', bits.slice(0, 1));
        const request = frame(unitId, 5, ...word(address), bits[0] ? 0xff : 0, 0);
        return { name: 'write coil', request, answer: answered(request) };
      }
      case 2: {
        put('coils', bits);
        const head = [15, ...word(address), ...word(quantity)];
        const data = packed(bits);
        return {
          name: 'write coils',
          request: frame(unitId, ...head, data.length, ...data),
          answer: answered(frame(unitId, ...head)),
        };
      }
      default: {
        put('holding', words);
        const head = [16, ...word(address), ...word(quantity)];
        const request = frame(unitId, ...head, 2 * quantity, ...words.flatMap(word));
        return { name: 'write registers', request, answer: answered(frame(unitId, ...head)) };
      }
    }
  };

  /** @param {Image} image @returns {Own} */
  const other = ({ unitId, holding }) => {
    const { address, quantity } = place(8);
    switch (random(5)) {
      case 0: {
        const value = unique();
        holding[address] = value;
        const request = frame(unitId, 22, ...word(address), 0, 0, ...word(value));
        return { name: 'mask', request, answer: request };
      }
      case 1: {
        const words = Array.from({ length: quantity }, unique);
        holding.splice(address, quantity, ...words);
        const pdu = [23, ...word(address), ...word(quantity), ...word(address), ...word(quantity)];
        const data = words.flatMap(word);
        return {
          name: 'write and read',
          request: frame(unitId, ...pdu, data.length, ...data),
          answer: frame(unitId, 23, data.length, ...data),
        };
      }
      case 2:
        return {
          name: 'exception 02',
          request: frame(unitId, 3, ...word(2 * SIZE), 0, 1),
          answer: frame(unitId, 0x83, 2),
        };
      case 3: {
        const text = [...Buffer.from('Example Co')];
        return {
          name: 'identification',
          request: frame(unitId, 43, 14, 4, 0),
          answer: frame(unitId, 43, 14, 4, 0x81, 0, 0, 1, 0, text.length, ...text),
        };
      }
      default:
        // A function for which no receiver knows where the frame ends.
        return {
          name: 'exception 01',
          request: frame(unitId, NO_FUNCTION, ...words(random, 1 + random(9))),
          answer: frame(unitId, NO_FUNCTION | 0x80, 1),
        };
    }
  };

  return {
    /** @returns {Own} */
    broadcast: () => write(0, images),
    /** @returns {Own} */
    next() {
      const image = /** @type {Image} */ (images[random(images.length)]);
      const kind = random(8);
      if (kind < 3) return write(image.unitId, [image]);
      if (kind === 3) return other(image);
      const { address, quantity } = place(SIZE - 1);
      return kind < 6
        ? readHolding(image.unitId, image.holding, address, quantity)
        : readCoils(image.unitId, image.coils, address, quantity);
    },
  };
}

/** @param {number} unitId @param {number[]} holding @param {number} address @param {number} quantity @returns {Own} */
function readHolding(unitId, holding, address, quantity) {
  const data = holding.slice(address, address + quantity).flatMap(word);
  return {
    name: 'read registers',
    request: frame(unitId, 3, ...word(address), ...word(quantity)),
    answer: frame(unitId, 3, data.length, ...data),
  };
}

/** @param {number} unitId @param {number[]} coils @param {number} address @param {number} quantity @returns {Own} */
function readCoils(unitId, coils, address, quantity) {
  const data = packed(coils.slice(address, address + quantity));
  return {
    name: 'read coils',
    request: frame(unitId, 1, ...word(address), ...word(quantity)),
    answer: frame(unitId, 1, data.length, ...data),
  };
}

/** @param {(limit: number) => number} random @param {number} length */
function words(random, length) {
  return Array.from({ length }, () => random(256));
}

/** @param {number[]} bits */
function packed(bits) {
  const bytes = Array(Math.ceil(bits.length / 8)).fill(0);
  for (const [i, bit] of bits.entries()) bytes[i >> 3] |= bit << (i & 7);
  return bytes;
}
