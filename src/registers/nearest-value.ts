import { narrow, withinFloat } from './actions/numbers.js';
import type { ValueType } from './cell-type.js';
import { integerRange, type Value } from './value.js';

/** A number as a type holds it; `fits` is false when it had to become another one, other than by rounding. */
export interface NearestValue {
  readonly value: Value;
  readonly fits: boolean;
}

/**
 * The value of a type that is nearest to a number. Integers are rounded; what lies beyond the ends of the type becomes
 * the nearest end, and what is not a number becomes 0. Floats hold NaN and the infinities as such.
 */
export function nearestValue(type: ValueType, number: number): NearestValue {
  const range = integerRange(type);
  if (!range) {
    if (!Number.isFinite(number)) return { value: number, fits: true };
    const value = withinFloat(type, number);
    return { value, fits: value === number };
  }
  const [smallest, largest] = range;
  const rounded = Math.round(number);
  if (Number.isNaN(rounded)) return { value: narrow(0n, type), fits: false };
  if (rounded > largest) return { value: narrow(largest, type), fits: false };
  if (rounded < smallest) return { value: narrow(smallest, type), fits: false };
  return { value: narrow(BigInt(rounded), type), fits: true };
}
