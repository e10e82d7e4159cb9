import fc from 'fast-check';
import { packWords } from '../../../src/modbus/protocol/bytes.js';
import { SubFunction } from '../../../src/modbus/protocol/function-code.js';
import type { RegisterRequest, Request } from '../../../src/modbus/protocol/request.js';

export const byte = fc.integer({ min: 0, max: 0xff });
export const word = fc.integer({ min: 0, max: 0xffff });

/** The nineteen public functions. */
export const FUNCTIONS: readonly number[] = [
  1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 20, 21, 22, 23, 24, 43,
];

/** Mostly few, sometimes as many as there may be. */
function quantity(max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: Math.min(max, 20) }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max }) },
  );
}

function list<T>(item: fc.Arbitrary<T>, max: number): fc.Arbitrary<T[]> {
  return quantity(max).chain((length) => fc.array(item, { minLength: length, maxLength: length }));
}

/** Every request for coils and registers that the specification allows, its addresses drawn from `address`. */
export function arbitraryRegisterRequest(
  address: fc.Arbitrary<number> = word,
): fc.Arbitrary<RegisterRequest> {
  return fc.oneof(
    fc.record({ code: fc.constantFrom(1 as const, 2 as const), address, quantity: quantity(2000) }),
    fc.record({ code: fc.constantFrom(3 as const, 4 as const), address, quantity: quantity(125) }),
    fc.record({ code: fc.constant(5 as const), address, on: fc.boolean() }),
    fc.record({ code: fc.constant(6 as const), address, value: word }),
    fc.record({ code: fc.constant(15 as const), address, bits: list(fc.boolean(), 1968) }),
    fc.record({ code: fc.constant(16 as const), address, words: list(word, 123) }),
    fc.record({ code: fc.constant(22 as const), address, andMask: word, orMask: word }),
    fc.record({
      code: fc.constant(23 as const),
      readAddress: address,
      readQuantity: quantity(125),
      writeAddress: address,
      words: list(word, 121),
    }),
  );
}

/** Where the requests for files and queues go. */
export interface Aims {
  readonly file?: fc.Arbitrary<number>;
  readonly record?: fc.Arbitrary<number>;
  readonly queue?: fc.Arbitrary<number>;
}

/** Every request of the other nine functions that the specification allows, up to four parts of files. */
export function arbitraryOtherRequest({
  file = word,
  record = word,
  queue = word,
}: Aims = {}): fc.Arbitrary<Request> {
  const referenceType = fc.oneof({ weight: 9, arbitrary: fc.constant(6) }, { weight: 1, arbitrary: byte });
  const part = fc
    .record({ referenceType, file, record, words: list(word, 25) })
    .map((each) => ({ ...each, length: each.words.length }));
  const parts = fc.array(part, { minLength: 1, maxLength: 4 });
  const names = parts.map((all) => all.map(({ words: _, ...name }) => name));
  const others = Object.values(SubFunction).filter((subFunction) => subFunction > 1);
  return fc.oneof(
    fc.record({ code: fc.constantFrom(7 as const, 11 as const, 12 as const, 17 as const) }),
    fc.record({
      code: fc.constant(8 as const),
      subFunction: fc.constant(SubFunction.returnQueryData),
      data: list(word, 125).map(packWords),
    }),
    fc.record({
      code: fc.constant(8 as const),
      subFunction: fc.constant(SubFunction.restartCommunicationsOption),
      data: fc.constantFrom(0, 0xff00).map((data) => packWords([data])),
    }),
    fc.record({
      code: fc.constant(8 as const),
      subFunction: fc.constantFrom(...others),
      data: fc.constant(packWords([0])),
    }),
    fc.record({ code: fc.constant(20 as const), parts: names }),
    fc.record({ code: fc.constant(21 as const), parts }),
    fc.record({ code: fc.constant(24 as const), address: queue }),
    fc.record({ code: fc.constant(43 as const), access: fc.constantFrom(1, 2, 3, 4), objectId: byte }),
  ) as fc.Arbitrary<Request>;
}

/** Every request of all nineteen functions. */
export function arbitraryRequest(
  address: fc.Arbitrary<number> = word,
  aims: Aims = {},
): fc.Arbitrary<Request> {
  return fc.oneof<fc.Arbitrary<Request>[]>(arbitraryRegisterRequest(address), arbitraryOtherRequest(aims));
}
