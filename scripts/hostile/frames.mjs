import { randomBytes, randomInt } from 'node:crypto';
import { frame } from '../soak/frame.mjs';

/** The framing of a line. @typedef {'socket' | 'rtu' | 'ascii'} Framing */

/** The unit that answers; all others are unknown. */
export const UNIT = 1;
export const VALUES = [0x1234, 0x5678];
/** Function 3: reads the registers with `VALUES`. */
export const READ = [3, 0, 0, 0, VALUES.length];
export const READ_RESPONSE = [3, 2 * VALUES.length, ...VALUES.flatMap((value) => [value >> 8, value & 0xff])];

/** @param {Framing} framing @param {readonly number[]} pdu */
export function adu(framing, pdu, unitId = UNIT, transactionId = 0) {
  switch (framing) {
    case 'socket':
      return Buffer.from([transactionId >> 8, transactionId & 0xff, 0, 0, 0, pdu.length + 1, unitId, ...pdu]);
    case 'rtu':
      return frame(unitId, ...pdu);
    case 'ascii':
      return ascii([unitId, ...pdu]);
  }
}

/** Modbus over Serial Line V1.02, 2.5.2. @param {readonly number[]} bytes */
function ascii(bytes) {
  const lrc = -bytes.reduce((sum, byte) => sum + byte, 0) & 0xff;
  return Buffer.from(
    `:${Buffer.from([...bytes, lrc])
      .toString('hex')
      .toUpperCase()}\r\n`,
  );
}

/** A valid frame, to our unit or an unknown one, with a nonsensical PDU. @param {Framing} framing */
export function nonsense(framing) {
  const pdu = [...randomBytes(randomInt(1, 60))];
  // Except requests that silence a device (8/4) or change its delimiter (8/3), which would be obeyed.
  if (pdu[0] === 8) pdu[0] = 9;
  return adu(framing, pdu, randomInt(3) === 0 ? UNIT : randomInt(2, 256), randomInt(0x10000));
}

/**
 * Frames whose length fields are 0 or the maximum.
 * @param {Framing} framing
 * @returns {Buffer[]}
 */
export function wrongLengths(framing) {
  const rest = randomBytes(200);
  switch (framing) {
    case 'socket':
      return [0, 65_535].map((length) =>
        Buffer.concat([Buffer.from([0, 1, 0, 0, length >> 8, length & 0xff, UNIT]), rest]),
      );
    case 'rtu':
      return [0, 255].map((count) =>
        Buffer.concat([frame(UNIT, 16, 0, 0, 0xff, 0xff, count), rest.subarray(0, 30)]),
      );
    case 'ascii':
      return [Buffer.from(':\r\n'), Buffer.from(`:${'A5'.repeat(32_767)}\r\n`)];
  }
}
