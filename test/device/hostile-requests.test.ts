import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Device } from '../../src/device/device.js';
import { Files } from '../../src/device/files.js';
import { identityObjects } from '../../src/device/identification.js';
import { RegisterImage } from '../../src/device/registers/image.js';
import { arbitraryRequest, byte, FUNCTIONS } from '../modbus/protocol/arbitrary-request.js';
import { encodeRequest } from '../modbus/protocol/encode-request.js';
import { hexOf } from '../modbus/protocol/hex.js';
import { quietLine } from './build.js';
import { layoutOf, run, STILL, tableOf, wordsOf } from './registers/build.js';
import { namedParts, wordOf, wrongWith } from './valid-response.js';

const SIZE = 160;
const RECORDS = 30;

/** Words with a gap, read-only ones and values of several cells; shared by all tables of the device. */
const layout = layoutOf(SIZE, [
  ...run(0, 100, { value: 0x5a5a }),
  ...run(100, 8, { value: 1, writable: false }),
  { address: 110, type: 'uint64', value: 1n },
  { address: 120, type: 'string', cells: 10, value: 'text' },
  ...run(130, 30, { value: 0xa5a5 }),
]);
const files = new Map([
  [1, { records: RECORDS, writable: true, values: [1, 2, 3] }],
  [2, { records: RECORDS, writable: true, values: [] }],
  [3, { records: RECORDS, writable: false, values: [4, 5, 6] }],
]);
const queues = new Map([0, 1, 31, 32, 200].map((length) => [length, Array<number>(length).fill(length)]));
const identity = identityObjects(
  { vendorUrl: 'u'.repeat(200), productName: 'p'.repeat(100) },
  new Map([0x80, 0x81, 0xff].map((id) => [id, 'x'.repeat(id - 28)])),
);

function newDevice(wholeValues: boolean): { device: Device; image: RegisterImage; content: Files } {
  const image = new RegisterImage(layout, STILL);
  const table = tableOf(image, { wholeValues });
  const high = tableOf(image, { wholeValues, base: 130, size: 30 });
  const content = new Files(files);
  return {
    device: new Device({
      name: 'hostile',
      tables: { coils: table, discrete: high, input: high, holding: table },
      files: content,
      queues,
      identity,
      exceptionStatus: [0, 5, 1599, 1600, 9999],
    }),
    image,
    content,
  };
}

/** Words of the registers, then of all files. */
function stateOf(content: Files, image: RegisterImage): number[] {
  const records = [1, 2, 3].flatMap((file) =>
    content.read({ referenceType: 6, file, record: 0, length: RECORDS }),
  );
  return [...wordsOf(image), ...records];
}

/** Addresses near what is defined, in registers and in bits, and near the end. */
const address = fc.oneof(fc.nat(SIZE), fc.nat(16 * SIZE), fc.integer({ min: 65500, max: 65535 }));
const aims = { file: fc.nat(4), record: fc.nat(RECORDS), queue: fc.constantFrom(0, 1, 2, 31, 32, 200) };

/** A request as it should be, cut off, made longer, or with one byte of it changed. */
const spoilt = fc
  .tuple(arbitraryRequest(address, aims).map(encodeRequest), fc.nat(260), byte, fc.nat(3))
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
const hostilePdu = fc.oneof({ weight: 5, arbitrary: spoilt }, { weight: 1, arbitrary: noise });

/** Indices of the state that a request may change: first and one past the last, from its bytes alone. */
function writtenRanges(pdu: Uint8Array): readonly (readonly [number, number])[] {
  const [first, second] = [wordOf(pdu, 1), wordOf(pdu, 3)];
  switch (pdu[0]) {
    case 5:
      return [[first >>> 4, (first >>> 4) + 1]];
    case 15:
      return [[first >>> 4, ((first + second - 1) >>> 4) + 1]];
    case 6:
    case 22:
      return [[first, first + 1]];
    case 16:
      return [[first, first + second]];
    case 21:
      return namedParts(pdu).map(({ file, record, length }) => {
        const start = SIZE + (file - 1) * RECORDS + record;
        return [start, start + length] as const;
      });
    case 23:
      return [[wordOf(pdu, 5), wordOf(pdu, 5) + wordOf(pdu, 7)]];
    default:
      return [];
  }
}

/** Exception 01 is for functions, sub-functions and MEI types that are not there, and for nothing else. */
function isUnknown(pdu: Uint8Array): boolean {
  const [code = 0, type] = pdu;
  if (code === 43) return type !== undefined && type !== 14;
  if (code !== 8) return !FUNCTIONS.includes(code);
  const known = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20];
  return pdu.length >= 3 && !known.includes(wordOf(pdu, 1));
}

const READ_ONLY = new Set([...run(100, 8), ...run(SIZE + 2 * RECORDS, RECORDS)].map(({ address: at }) => at));

/** What is wrong with the answer to a request; undefined when nothing is. */
function wrongAnswer(pdu: Uint8Array, response: Uint8Array | undefined): string | undefined {
  const [code = 0] = pdu;
  const isForceListenOnly = hexOf(pdu) === '0800040000';
  if (response === undefined) return isForceListenOnly ? undefined : 'no response';
  if (isForceListenOnly) return 'a response to force listen only';
  if (((response[0] as number) & 0x80) === 0) return wrongWith(pdu, response);
  if (response.length !== 2 || response[0] !== (code | 0x80)) return 'no exception response';
  if ((response[1] === 1) !== isUnknown(pdu)) return 'exception 01 or not';
  return [1, 2, 3].includes(response[1] as number) ? undefined : 'the exception code';
}

describe('any bytes at all as a request', () => {
  it('get an exception, or a success as the specification has it that changed what it was to change and nothing else', () => {
    const seen = new Set<string>();
    const untouched = newDevice(false);
    const before = stateOf(untouched.content, untouched.image);
    fc.assert(
      fc.property(hostilePdu, fc.boolean(), (pdu, wholeValues) => {
        const { device, image, content } = newDevice(wholeValues);
        const sent = hexOf(pdu);
        const response = device.respond(pdu, quietLine());
        if (hexOf(pdu) !== sent) throw new Error(`changed the request ${sent}`);
        const wrong = wrongAnswer(pdu, response);
        if (wrong) throw new Error(`${wrong}: ${sent} gives ${response && hexOf(response)}`);

        const isSuccess = response !== undefined && ((response[0] as number) & 0x80) === 0;
        seen.add(`${pdu[0]} ${isSuccess ? 'ok' : (response?.[1] ?? 'silence')}`);
        const ranges = isSuccess ? writtenRanges(pdu) : [];
        stateOf(content, image).forEach((word, i) => {
          const mayChange = ranges.some(([first, end]) => i >= first && i < end) && !READ_ONLY.has(i);
          if (word !== before[i] && !mayChange) throw new Error(`${sent} changed word ${i}`);
        });
      }),
      { numRuns: 100_000 },
    );
    // the dice reached every function in every outcome that it has
    const withoutAddress = [7, 8, 11, 12, 17];
    for (const code of FUNCTIONS) {
      const outcomes = withoutAddress.includes(code) ? ['ok', 3] : ['ok', 2, 3];
      for (const outcome of outcomes) expect([...seen]).toContain(`${code} ${outcome}`);
    }
    for (const outcome of ['8 1', '8 silence', '43 1']) expect([...seen]).toContain(outcome);
  });
});
