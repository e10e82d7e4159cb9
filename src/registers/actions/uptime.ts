import type { ActionKind } from '../action-kind.js';
import type { ValueType } from '../cell-type.js';
import { integerRange, type Value } from '../value.js';
import { changeNumber, narrow, within, withoutNumber } from './numbers.js';

/**
 * Seconds since the simulator started, counted from 1. A client can so tell a device that has just started from a
 * missing device.
 */
export const uptime: ActionKind = {
  hasBounds: false,
  fields: 1,
  whyUnfit: (type) =>
    type === 'bit' ? 'uptime counts seconds, which one bit can not hold' : withoutNumber('uptime', type),
  run(image, address, _, source) {
    const seconds = Math.floor(source.uptime() / 1000) + 1;
    changeNumber(image, address, (_, type) => asType(seconds, type));
  },
};

/** A number as the type can hold it: whole and in range for the integer types. */
function asType(value: number, type: ValueType): Value {
  const range = integerRange(type);
  return range ? narrow(within(range, value), type) : value;
}
