import type { Value } from './value.js';

/** The names of bits of a value, each with the number of its bit; 0 is the lowest. */
export type BitNames = readonly (readonly [bit: number, name: string])[];

/** Returns the names of the bits that are set in a stored value: `running, overload`; `none` without any. */
export function setBits(names: BitNames, raw: Value): string {
  const set = names.filter(([bit]) => isSet(raw, bit)).map(([, name]) => name);
  return set.length > 0 ? set.join(', ') : 'none';
}

function isSet(raw: Value, bit: number): boolean {
  return ((BigInt.asUintN(64, BigInt(raw)) >> BigInt(bit)) & 1n) === 1n;
}
