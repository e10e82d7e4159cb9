import type { Order, ValueType } from '../../../device/registers/cell-type.js';

/** A field of a structure. */
export interface StructureField {
  readonly type: ValueType;
  /** The number of registers of a string. */
  readonly length?: number;
  readonly order: { readonly wordOrder?: Order; readonly byteOrder?: Order };
}

/** The types of Python's `struct` that fill whole registers. */
const CODES: Readonly<Record<string, ValueType>> = {
  h: 'int16',
  H: 'uint16',
  i: 'int32',
  l: 'int32',
  I: 'uint32',
  L: 'uint32',
  f: 'float32',
  q: 'int64',
  Q: 'uint64',
  d: 'float64',
};

const MOST_FIELDS = 125;

/**
 * Reads a format of Python's `struct`, such as `>10f` or `>2Hf`: the fields in their order, and `4s` as a
 * string.
 * @returns undefined for a format with anything else, or with half a register
 */
export function fieldsOf(structure: string): readonly StructureField[] | undefined {
  const match = /^([<>!=@]?)((?: *\d{0,3}[A-Za-z?])+) *$/.exec(structure.slice(0, 100));
  if (!match || structure.length > 100) return undefined;
  const [, prefix = '', codes = ''] = match;
  // Without a prefix, the order is that of the machine, which is little-endian wherever Home Assistant runs.
  const isLittle = prefix !== '>' && prefix !== '!';
  const order = isLittle ? ({ wordOrder: 'little', byteOrder: 'little' } as const) : {};
  const fields: StructureField[] = [];
  for (const [, digits = '', code = ''] of codes.matchAll(/(\d*)([A-Za-z?])/g)) {
    const times = digits === '' ? 1 : Number(digits);
    if (code === 's') {
      if (times === 0 || times % 2 !== 0) return undefined;
      fields.push({ type: 'string', length: times / 2, order: {} });
      continue;
    }
    const type = CODES[code];
    if (type === undefined || fields.length + times > MOST_FIELDS) return undefined;
    for (let i = 0; i < times; i += 1) fields.push({ type, order });
  }
  return fields;
}
