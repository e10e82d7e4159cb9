import type { ActionKind, ActionSource } from '../action-kind.js';
import type { ValueType } from '../cell-type.js';
import { integerRange, type Value } from '../value.js';
import { changeNumber, narrow, within, withinFloat, withoutNumber } from './numbers.js';

/** The value becomes a random number between the bounds. */
export const random: ActionKind = {
  hasBounds: true,
  fields: 1,
  whyUnfit: (type) => withoutNumber('random', type),
  run(image, address, { minval, maxval }, source) {
    changeNumber(image, address, (_, type) => draw(type, source, minval, maxval));
  },
};

/** Defaults of pymodbus' simulator. They are limited to the type and to the other bound. */
const RANDOM_MIN = 1;
export const RANDOM_MAX = 65536;

function draw(type: ValueType, source: ActionSource, minval?: number, maxval?: number): Value {
  const min = minval ?? Math.min(RANDOM_MIN, maxval ?? RANDOM_MIN);
  const max = maxval ?? Math.max(min, RANDOM_MAX);
  const share = source.random();
  const range = integerRange(type);
  return range
    ? narrow(drawInteger(within(range, min), within(range, max), share), type)
    : drawFloat(withinFloat(type, min), withinFloat(type, max), share);
}

/** Beyond 2^53 the product is rounded, and could exceed `max`. */
function drawInteger(min: bigint, max: bigint, share: number): bigint {
  const value = min + BigInt(Math.floor(share * Number(max - min + 1n)));
  return value > max ? max : value;
}

/** Adds shares of both ends, because their difference may be too large for a double. */
function drawFloat(min: number, max: number, share: number): number {
  return Math.min(Math.max(min * (1 - share) + max * share, min), max);
}
