import fc from 'fast-check';
import type { Request } from '../../src/protocol/request.js';

export const byte = fc.integer({ min: 0, max: 0xff });
export const word = fc.integer({ min: 0, max: 0xffff });

/** Every request that the specification allows, its addresses drawn from `address`. */
export function arbitraryRequest(address: fc.Arbitrary<number> = word): fc.Arbitrary<Request> {
  const quantity = (max: number) =>
    fc.oneof(fc.integer({ min: 1, max: Math.min(max, 20) }), fc.integer({ min: 1, max }));
  const list = <T>(item: fc.Arbitrary<T>, max: number) =>
    quantity(max).chain((length) => fc.array(item, { minLength: length, maxLength: length }));
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
