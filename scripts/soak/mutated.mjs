import { bundled } from '../../test/support/bundled.mjs';
import { randomNumbers } from './requests.mjs';

/*
 * Feeds damaged requests to the framers of the built program, each in random pieces and followed by silence,
 * and after each a good request. A damaged request must never be executed, and a good one must never be lost.
 */

/** @typedef {import('../../src/modbus/transport/framer/framer.js').Framer} Framer */
/** @typedef {import('../../src/modbus/protocol/framing.js').Framing} Framing */

const UNIT = 17;
const T35_MS = 4;
/** Longer than the discard gap of any line, in ms. */
const SILENCE_MS = 2000;

/** Request PDUs: each function that writes, and two that read. */
const PDUS = [
  [3, 0, 0, 0, 10],
  [1, 0, 0, 0, 16],
  [5, 0, 7, 0xff, 0],
  [6, 0, 1, 0x12, 0x34],
  [15, 0, 0, 0, 10, 2, 0xaa, 1],
  [16, 0, 0, 0, 3, 6, 1, 2, 3, 4, 5, 6],
  [22, 0, 4, 0, 0xf2, 0, 0x25],
  [23, 0, 0, 0, 2, 0, 4, 0, 1, 2, 0, 9],
];

/**
 * @typedef {object} MutatedResult
 * @property {string} framing
 * @property {number} damaged Damaged requests that were fed.
 * @property {number} executed Requests that came out but had not been sent.
 * @property {number} lost Good requests that did not come out.
 * @property {number} valid Mutations that left a valid frame, which no receiver can detect: replaced, and not
 * counted.
 */

/**
 * @param {number} quantity damaged requests, divided among the three framers
 * @param {number} seed
 * @returns {Promise<MutatedResult[]>}
 */
export async function soakMutated(quantity, seed) {
  const code = await bundled(`
    export { newFramer } from './src/modbus/transport/framer/new-framer.js';
    export { FRAMINGS } from './src/modbus/protocol/framings.js';`);
  const { newFramer, FRAMINGS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const kinds = [
    { name: 'RTU on a wire', framing: FRAMINGS.rtu, carrier: 'wire' },
    { name: 'RTU over TCP', framing: FRAMINGS.rtu, carrier: 'stream' },
    { name: 'ASCII on a wire', framing: FRAMINGS.ascii, carrier: 'wire' },
  ];
  return kinds.map(({ name, framing, carrier }, i) => {
    const owns = (/** @type {number} */ unitId) => unitId === UNIT;
    const framer = newFramer(framing, owns, { t35: T35_MS, carrier });
    return { framing: name, ...feed(framer, framing, Math.ceil(quantity / kinds.length), seed + i) };
  });
}

/** @param {Framer} framer @param {Framing} framing @param {number} quantity @param {number} seed */
function feed(framer, framing, quantity, seed) {
  const random = randomNumbers(seed);
  const good = PDUS.map((pdu) =>
    framing.encode({ transactionId: 0, unitId: UNIT, pdu: Uint8Array.from(pdu) }),
  );
  const result = { damaged: 0, executed: 0, lost: 0, valid: 0 };
  let at = 0;
  /** The requests found in bytes that come in pieces and are followed by silence. @param {Uint8Array} bytes */
  const hear = (bytes) => {
    const events = [];
    for (let start = 0; start < bytes.length; ) {
      const end = Math.min(bytes.length, start + 1 + random(bytes.length));
      events.push(...framer.push(bytes.slice(start, end), at));
      start = end;
      at += random(4) === 0 ? 2 * T35_MS : 1;
    }
    at += SILENCE_MS;
    return [...events, ...framer.silence()].filter(({ kind }) => kind === 'request');
  };
  while (result.damaged < quantity) {
    const bytes = mutated(/** @type {Uint8Array} */ (good[random(good.length)]), random);
    if (holdsFrame(bytes, framing)) {
      result.valid++;
      continue;
    }
    result.damaged++;
    result.executed += hear(bytes).length;
    const request = /** @type {Uint8Array} */ (good[random(good.length)]);
    const heard = hear(request);
    const isHeard = heard.some((event) => Buffer.from(event.bytes).equals(Buffer.from(request)));
    if (!isHeard) result.lost++;
    result.executed += heard.length - Number(isHeard);
  }
  return result;
}

/**
 * Applies one to three kinds of damage to a frame.
 * @param {Uint8Array} frame @param {(below: number) => number} random @returns {Uint8Array}
 */
function mutated(frame, random) {
  let bytes = [...frame];
  for (let times = 1 + random(3); times > 0; times--) {
    const place = random(Math.max(1, bytes.length));
    const some = 1 + random(4);
    const noise = Array.from({ length: some }, () => random(256));
    switch (random(7)) {
      case 0:
        bytes[place] = (bytes[place] ?? 0) ^ (1 << random(8));
        break;
      case 1:
        bytes[place] = random(256);
        break;
      case 2:
        bytes.splice(place, some);
        break;
      case 3:
        bytes.splice(place, 0, ...noise);
        break;
      case 4:
        bytes = bytes.slice(0, place);
        break;
      case 5:
        bytes = bytes.slice(place);
        break;
      default:
        bytes.splice(place, some, ...noise);
    }
  }
  return Uint8Array.from(bytes.length > 0 ? bytes : [random(256)]);
}

/**
 * Whether any part of the bytes is a valid frame. By chance this is so for one in about 65,000 mutations, and
 * for a frame that only got extra bytes around it.
 * @param {Uint8Array} bytes @param {Framing} framing
 */
function holdsFrame(bytes, framing) {
  for (let start = 0; start + framing.minLength <= bytes.length; start++) {
    for (let end = start + framing.minLength; end <= bytes.length; end++) {
      if (framing.decode(bytes.subarray(start, end))) return true;
    }
  }
  return false;
}
