import { narrow, withinFloat } from './actions/numbers.js';
import type { ValueType } from './cell-type.js';
import { integerRange, type Value } from './value.js';

/** A number converted to a type. `fits` is false when the conversion changed it by more than rounding. */
export interface NearestValue {
  readonly value: Value;
  readonly fits: boolean;
}

/**
 * The value of a type that is nearest to a number. For integers the number is rounded and limited to the range of the
 * type, and NaN becomes 0. Floats keep NaN and the infinities.
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
