import type { Action } from '../../registers/actions.js';
import { BIG_ENDIAN, type ValueType } from '../../registers/cell-type.js';
import type { RegisterImage } from '../../registers/image.js';
import { type Value, type ValueLocation, wordsOfValue } from '../../registers/value.js';

/** A value as it is now, in the form of a native file. */
export interface PresentValue {
  readonly type: ValueType;
  readonly cells: number;
  /** What stands in a file under `value`. */
  readonly written: Value;
  readonly writable: boolean;
  readonly action?: Action | undefined;
  /** Of a string that is padded with spaces. */
  readonly padding?: 'space';
  /** True when the registers hold bytes that `written` does not give again. */
  readonly inexact?: boolean;
}

/** The value of an image at a location. */
export function presentValue(image: RegisterImage, location: ValueLocation): PresentValue {
  const { address, cells, type } = location;
  const writable = image.isWritable(address);
  const action = image.actionAt(address);
  // A device may have 262,144 bits and words, and this is the quick way to them.
  if (type === 'bit' || (type === 'uint16' && image.orderAt(address) === BIG_ENDIAN)) {
    return { type, cells, written: image.wordAt(address), writable, action };
  }
  const value = image.valueAt(location);
  const isPadded = type === 'string' && image.orderAt(address).padding === 'space';
  const written = writtenValue(location, value, isPadded);
  const mayDiffer = typeof value === 'string' || Number.isNaN(value);
  return {
    type,
    cells,
    written,
    writable,
    action,
    ...(isPadded && { padding: 'space' }),
    ...(mayDiffer && !isExact(image, location, written) && { inexact: true }),
  };
}

/** Not all bytes are text, and there are many kinds of NaN. */
function isExact(image: RegisterImage, { address, cells, type }: ValueLocation, written: Value): boolean {
  const words = wordsOfValue(type, written, cells, image.orderAt(address));
  return words.every((word, i) => word === image.wordAt(address + i));
}

function writtenValue({ type, cells }: ValueLocation, value: Value, isPadded: boolean): Value {
  if (typeof value === 'string') {
    const text = isPadded ? value.replace(/ +$/, '') : value;
    // The sign for a byte that is no text takes three bytes, which may be more than there are.
    return Buffer.byteLength(text) > 2 * cells ? text.replaceAll('\ufffd', '?') : text;
  }
  return type === 'float32' && typeof value === 'number' ? shortest(value) : value;
}

/** The shortest decimal number that is the same as a float32: 230.1 for 230.10000610351562. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Object.is(Math.fround(short), value)) return short;
  }
  return value;
}
