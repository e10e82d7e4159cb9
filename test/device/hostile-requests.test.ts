import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Device } from '../../src/device/device.js';
import { encodeRequest } from '../../src/protocol/request.js';
import { RegisterImage } from '../../src/registers/image.js';
import { arbitraryRequest, byte } from '../protocol/arbitrary-request.js';
import { layoutOf, run, STILL, tableOf, wordsOf } from '../registers/build.js';
import { hexOf } from '../vectors/hex.js';

const FUNCTIONS = [1, 2, 3, 4, 5, 6, 15, 16, 22, 23];
const SIZE = 160;

/** Words with a gap, read-only ones and values of several cells; shared by all tables of the device. */
const layout = layoutOf(SIZE, [
  ...run(0, 100, { value: 0x5a5a }),
  ...run(100, 8, { value: 1, writable: false }),
  { address: 110, type: 'uint64', value: 1n },
  { address: 120, type: 'string', cells: 10, value: 'text' },
  ...run(130, 30, { value: 0xa5a5 }),
]);

function newDevice(wholeValues: boolean): { device: Device; image: RegisterImage } {
  const image = new RegisterImage(layout, STILL);
  const table = tableOf(image, { wholeValues });
  const high = tableOf(image, { wholeValues, base: 130, size: 30 });
  return {
    device: new Device({
      name: 'hostile',
      tables: { coils: table, discrete: high, input: high, holding: table },
    }),
    image,
  };
}

/** Addresses near what is defined, in registers and in bits, and near the end. */
const address = fc.oneof(fc.nat(SIZE), fc.nat(16 * SIZE), fc.integer({ min: 65500, max: 65535 }));

/** A request as it should be, cut off, made longer, or with one byte of it changed. */
const spoilt = fc
  .tuple(arbitraryRequest(address).map(encodeRequest), fc.nat(260), byte, fc.nat(3))
  .map(([pdu, position, value, way]) => {
    const at = position % pdu.length;
    if (way === 0) return pdu.slice(0, at + 1);
    if (way === 1) return Uint8Array.of(...pdu, ...new Uint8Array(at % (254 - pdu.length)));
    return pdu.map((each, i) => (way === 2 && i === at ? value : each));
  });
const noise = fc
  .tuple(
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...FUNCTIONS) }, { weight: 2, arbitrary: byte }),
    fc.uint8Array({ maxLength: 252 }),
  )
  .map(([code, rest]) => Uint8Array.of(code, ...rest));
const hostilePdu = fc.oneof({ weight: 3, arbitrary: spoilt }, { weight: 1, arbitrary: noise });

/** Bytes of a success response, from the bytes of the request alone (Application Protocol V1.1b3, 6). */
function successLength(pdu: Uint8Array): number {
  const quantity = ((pdu[3] as number) << 8) | (pdu[4] as number);
  switch (pdu[0]) {
    case 1:
    case 2:
      return 2 + Math.ceil(quantity / 8);
    case 3:
    case 4:
    case 23:
      return 2 + 2 * quantity;
    case 22:
      return 7;
    default:
      return 5;
  }
}

/** Cells that a request may change: first and one past the last, from its bytes alone. */
function writtenCells(pdu: Uint8Array): readonly [number, number] {
  const at = (offset: number) => ((pdu[offset] as number) << 8) | (pdu[offset + 1] as number);
  switch (pdu[0]) {
    case 5:
      return [at(1) >>> 4, (at(1) >>> 4) + 1];
    case 15:
      return [at(1) >>> 4, ((at(1) + at(3) - 1) >>> 4) + 1];
    case 6:
    case 22:
      return [at(1), at(1) + 1];
    case 16:
      return [at(1), at(1) + at(3)];
    case 23:
      return [at(5), at(5) + at(7)];
    default:
      return [0, 0];
  }
}

describe('any bytes at all as a request', { timeout: 120_000 }, () => {
  it('get an exception, or a success of the right length that changed what it was to change and nothing else', () => {
    const seen = new Set<string>();
    const before = wordsOf(newDevice(false).image);
    fc.assert(
      fc.property(hostilePdu, fc.boolean(), (pdu, wholeValues) => {
        const { device, image } = newDevice(wholeValues);
        const sent = hexOf(pdu);
        const response = device.respond(pdu);
        const code = pdu[0] as number;
        const isException = ((response[0] as number) & 0x80) !== 0;
        seen.add(`${code} ${isException ? response[1] : 'ok'}`);
        expect(hexOf(pdu)).toBe(sent);
        if (isException) {
          expect(response).toHaveLength(2);
          expect(response[0]).toBe(code | 0x80);
          expect([1, 2, 3]).toContain(response[1]);
          expect(response[1] === 1).toBe(!FUNCTIONS.includes(code));
        } else {
          expect(response[0]).toBe(code);
          expect(response).toHaveLength(successLength(pdu));
        }
        const [first, end] = isException ? [0, 0] : writtenCells(pdu);
        const strays = wordsOf(image).flatMap((word, cell) =>
          word !== before[cell] && (cell < first || cell >= end || !image.isWritable(cell)) ? [cell] : [],
        );
        expect(strays, `request ${sent}`).toEqual([]);
      }),
      { numRuns: 20_000 },
    );
    // the dice reached every function in every outcome that it has
    for (const code of FUNCTIONS) {
      for (const outcome of ['ok', 2, 3]) expect([...seen]).toContain(`${code} ${outcome}`);
    }
  });
});
