import type { ActionKind } from '../action-kind.js';
import type { ValueType } from '../cell-type.js';
import { integerRange, type Value } from '../value.js';
import { changeNumber, narrow, within, withinFloat, withoutNumber } from './numbers.js';

/** The value grows by one. */
export const increment: ActionKind = {
  hasBounds: true,
  fields: 1,
  whyUnfit: (type) => withoutNumber('increment', type),
  run(image, address, { minval, maxval }) {
    changeNumber(image, address, (value, type) => next(value, type, minval, maxval));
  },
};

/** After its largest value the counter continues from its smallest. Integers count exactly, even with 64 bits. */
function next(value: number | bigint, type: ValueType, minval?: number, maxval?: number): Value {
  const range = integerRange(type);
  if (!range) return nextFloat(Number(value), type, minval, maxval);
  const min = minval === undefined ? range[0] : within(range, minval);
  const max = maxval === undefined ? range[1] : within(range, maxval);
  const next = BigInt(value) + 1n;
  return narrow(next > max || next < min ? min : next, type);
}

/** Without `minval` a float wraps to 0, or to a negative `maxval`. It may still count up from a lower value. */
function nextFloat(value: number, type: ValueType, minval?: number, maxval?: number): number {
  const min = minval === undefined ? undefined : withinFloat(type, minval);
  const max = withinFloat(type, maxval ?? Infinity);
  const next = value + 1;
  if (next > max) return min ?? Math.min(0, max);
  return min !== undefined && next < min ? min : next;
}
