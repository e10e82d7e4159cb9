import { frame, word } from './frame.mjs';
import { CANARY, OWN } from './own-units.mjs';

/** A unit that never answers, and one that answers at random times. */
export const SILENT = 9;
export const SLOW = 18;

/** A request to a device that is not ours, and that device's response. @typedef {{name: string, request: Buffer, response: Buffer}} Foreign */

/**
 * Frames between the master and other devices that are as easy to mistake as possible: responses as long as a
 * request, copies of the request, functions of unknown length, and whole writes to our units as data.
 * @param {(limit: number) => number} random
 */
export function foreignExchanges(random) {
  const bytes = (/** @type {number} */ length) => Array.from({ length }, () => random(256));
  /** A write to one of our units that must not be executed. */
  const bait = () => {
    const unitId = random(8) === 0 ? 0 : (OWN[random(OWN.length)] ?? 0);
    const address = word(CANARY.address + random(8));
    return [
      ...(random(2)
        ? frame(unitId, 6, ...address, 0xba, 0xd0)
        : frame(unitId, 16, ...address, 0, 1, 2, 0xba, 0xd1)),
    ];
  };
  const padded = (/** @type {number[]} */ data) => (data.length % 2 ? [...data, 0] : data);
  /** An even number of bytes, some of which are such writes. */
  const data = () => {
    switch (random(4)) {
      case 0:
        return bytes(2 * (1 + random(30)));
      case 1:
        return padded(bait());
      case 2:
        return padded([...bytes(random(9)), ...bait(), ...bytes(random(9))]);
      default:
        return padded([...bait(), ...bait(), ...bait()]);
    }
  };
  /** @type {((head: number[]) => {name: string, request: number[], response: number[]})[]} */
  const kinds = [
    (at) => ({ name: '3 data bytes', request: [1, ...at, 0, 24], response: [1, 3, ...bytes(3)] }),
    (at) => ({ name: '3 data bytes', request: [2, ...at, 0, 20], response: [2, 3, ...bytes(3)] }),
    (at) => registers(3, at),
    (at) => registers(3, at),
    (at) => registers(4, at),
    (at) => copied('5', [5, ...at, random(2) ? 0xff : 0, 0]),
    (at) => copied('6', [6, ...at, ...bytes(2)]),
    () => ({ name: '7', request: [7], response: [7, random(256)] }),
    () => copied('8', [8, 0, 0, ...bytes(2)]),
    () => ({ name: '11', request: [11], response: [11, 0, 0, ...bytes(2)] }),
    () => ({ name: '12', request: [12], response: counted(12, [0, 0, ...bytes(4), ...bytes(random(20))]) }),
    (at) => multiple(15, at),
    (at) => multiple(16, at),
    () => ({ name: '17', request: [17], response: counted(17, data()) }),
    (at) => {
      const record = data();
      return {
        name: '20',
        request: [20, 7, 6, 0, 1, ...at, ...word(record.length / 2)],
        response: [20, record.length + 2, record.length + 1, 6, ...record],
      };
    },
    (at) => {
      const record = data();
      return copied('21', [21, 7 + record.length, 6, 0, 1, ...at, ...word(record.length / 2), ...record]);
    },
    (at) => copied('22', [22, ...at, ...bytes(4)]),
    (at) => {
      const written = data();
      return {
        name: '23',
        request: [23, ...at, 0, 9, ...at, ...word(written.length / 2), written.length, ...written],
        response: counted(23, data()),
      };
    },
    (at) => {
      const queue = data().slice(0, 60);
      return {
        name: '24',
        request: [24, ...at],
        response: [24, ...word(queue.length + 2), ...word(queue.length / 2), ...queue],
      };
    },
    () => {
      const text = data();
      return {
        name: '43/14',
        request: [43, 14, 1, 0],
        response: [43, 14, 1, 1, 0, 0, 1, 0, text.length, ...text],
      };
    },
    () => ({ name: 'unknown length', request: [0x41, ...data()], response: [0x41, ...data()] }),
    () => ({
      name: 'unknown length',
      request: [0x64, ...bytes(random(8))],
      response: [0x64, ...bytes(random(8))],
    }),
  ];

  /** @param {number} code @param {number[]} at */
  function registers(code, at) {
    const words = data();
    return {
      name: 'registers',
      request: [code, ...at, ...word(words.length / 2)],
      response: counted(code, words),
    };
  }

  /** @param {number} code @param {number[]} at */
  function multiple(code, at) {
    const written = data();
    const head = [code, ...at, ...word(code === 15 ? 8 * written.length : written.length / 2)];
    return { name: `${code}`, request: [...head, written.length, ...written], response: head };
  }

  /** @param {string} name @param {number[]} pdu */
  function copied(name, pdu) {
    return { name, request: pdu, response: pdu };
  }

  /** @param {number} code @param {number[]} content */
  function counted(code, content) {
    return [code, content.length, ...content];
  }

  /** @param {number} unitId @returns {Foreign} */
  return (unitId) => {
    const kind = /** @type {typeof kinds[number]} */ (kinds[random(kinds.length)]);
    const { name, request, response } = kind(word(random(2) ? random(100) : random(0x10000)));
    const refused = random(8) === 0;
    return {
      name: refused ? 'exception' : name,
      request: frame(unitId, ...request),
      response: refused ? frame(unitId, (request[0] ?? 0) | 0x80, 1 + random(4)) : frame(unitId, ...response),
    };
  };
}
