import { CELLS_PER_VALUE, type Order, type ValueType } from '../../device/registers/cell-type.js';

/** Makes a dictionary from a list of words for each value: `{ coils: 'coil coils' }`. */
export function byWord<Value extends string>(
  words: Readonly<Partial<Record<Value, string>>>,
): ReadonlyMap<string, Value> {
  const rows = Object.entries(words) as [Value, string][];
  return new Map(rows.flatMap(([value, all]) => all.split(' ').map((word) => [word, value] as const)));
}

/** The meaning of a data type given in words. */
export interface DataType {
  readonly type: ValueType;
  /** The bit within its register, as in `bool (bit 4)`. */
  readonly bit?: number;
  /** The number of registers in a string, if the type includes it, as in `string(16)`. */
  readonly length?: number;
  readonly wordOrder?: Order;
  readonly byteOrder?: Order;
  /** Number of registers after the value, of unknown type, that are served too. */
  readonly rest?: number;
  /** Assumptions that were made, in words. */
  readonly assumed?: string;
}

/** The number types that fill whole registers, by their names in other programs, in lower case. */
export const NUMBER_TYPES: ReadonlyMap<string, ValueType> = new Map(
  Object.keys(CELLS_PER_VALUE).flatMap((type) =>
    type.startsWith('bit') ? [] : [[type, type as ValueType] as const],
  ),
);

const SIZED = { 1: 16, 2: 32, 4: 64 } as const;
type Words = keyof typeof SIZED;

/**
 * Type names of programming languages, IEC 61131-3, SunSpec and manuals, without spaces, underscores and
 * hyphens.
 */
const EXACT = byWord<ValueType>({
  uint16:
    'uint16 u16 ushort word uword unsigned16 unsignedshort unsignedint16 uint16t enum16 acc16 count analog analogue',
  int16: 'int16 i16 s16 short sword signed16 signedshort signedint16 int16t sunssf pad',
  uint32: 'uint32 u32 udint dword udword unsigned32 unsignedint32 uint32t enum32 bitfield32 acc32',
  int32: 'int32 i32 s32 dint sdword signed32 signedint32 int32t',
  uint64: 'uint64 u64 ulint lword qword uqword unsigned64 unsignedint64 uint64t enum64 bitfield64 acc64',
  int64: 'int64 i64 s64 lint sqword signed64 signedint64 int64t',
  float32: 'float32 f32 real single float4 fp32 ieee754 ieee float32ieee real32 singlefloat',
  float64: 'float64 f64 lreal double fp64 float64ieee real64',
  bits: 'bits bitfield16 bitfield bitmap bitmap16 flags',
  bit: 'bit bool boolean coil flag binary',
});

/** Type names without a size: the number of registers decides. */
const UNSIZED = byWord<'uint' | 'int' | 'float'>({
  uint: 'uint unsigned unsignedint unsignedinteger ulong enum hex',
  int: 'int integer signed signedint long',
  float: 'float',
});

const TEXTS = /^(?:string|str|ascii|text|char|chars|utf8)[([]?(\d{1,5})?[)\]]?$/;

/** Orders that may follow a type: the bytes on the wire as letters, or words. */
const ORDERS: ReadonlyMap<string, { readonly wordOrder: Order; readonly byteOrder: Order }> = new Map(
  (
    [
      ['big', 'big', 'ab abcd abcdefgh be big bigendian msw mswfirst highwordfirst mswbe hwlw'],
      [
        'little',
        'big',
        'cdab ghefcdab lsw lswfirst lowwordfirst wordswap wordsswapped swapped sw r lswbe lwhw littleendianbyteswap',
      ],
      ['big', 'little', 'badc badcfehg byteswap sb mswle bigendianbyteswap'],
      ['little', 'little', 'ba dcba hgfedcba le little littleendian lswle'],
    ] as const
  ).flatMap(([wordOrder, byteOrder, words]) =>
    words.split(' ').map((word) => [word, { wordOrder, byteOrder }] as const),
  ),
);

/** The word and byte order that a string names; undefined if the string is unknown. */
export function orderOf(text: string): { readonly wordOrder: Order; readonly byteOrder: Order } | undefined {
  return ORDERS.get(plain(text));
}

/**
 * The type that a string names.
 * @param words the number of registers that the file gives for the value, if any
 * @returns undefined if the type is unknown
 */
export function dataTypeOf(text: string, words: number | undefined): DataType | undefined {
  const word = plain(text);
  const whole = typeOf(word, words);
  if (whole) return whole;
  const bit = /^(?:bool|boolean|bit|flag)bit(\d{1,2})$/.exec(word.replace(/[()]/g, ''))?.[1];
  if (bit !== undefined) return { type: 'bit', bit: Number(bit) };
  // A format of Python's struct, such as `>f`.
  const [field, ...more] = /^[<>!]/.test(text) ? (fieldsOf(text) ?? []) : [];
  if (field && more.length === 0) return { type: field.type, ...field.order };
  const [head, tail] = splitOrder(text);
  const order = tail === undefined ? undefined : orderOf(tail);
  const type = order && head !== undefined ? typeOf(plain(head), words) : undefined;
  return type && order ? { ...type, ...order } : looseType(text, words);
}

/** Words in longer type names, and what they mean. */
const KINDS: readonly (readonly [RegExp, 'uint' | 'int' | 'float' | 'bits'])[] = [
  [/^(?:f|float|real|single|double|ieee|ieee754|fp|floatingpoint|gleitkomma)$/, 'float'],
  [/^(?:u|uint|unsigned|ushort|uword|udword|udint|ulong|vorzeichenlos)$/, 'uint'],
  [/^(?:s|i|int|signed|sint|short|sword|sdword|integer|dint|long|vorzeichen)$/, 'int'],
  [/^(?:flags|bitfield|bitmap|bitmask|enum|word|dword|byte)$/, 'bits'],
];
/** The sizes in bits of words without a number. */
const SIZES: Readonly<Record<string, number>> = {
  short: 16,
  ushort: 16,
  word: 16,
  uword: 16,
  sword: 16,
  byte: 8,
  double: 64,
  dword: 32,
  udword: 32,
  sdword: 32,
  dint: 32,
  udint: 32,
  long: 32,
  ulong: 32,
};
const LOOSE_WORDS =
  /^(?:bit|bits|byte|bytes|be|le|type|value|integer|number|point|register|registers|reg|scaled|fixed|words|x|bcd|precision|endian|big|little)$/;

/**
 * Parses a longer type name: `Unsigned 16`, `uint32be`, `int16sw`, `16-bit signed`, `32BIT_FLAGS`, `U_DWORD
 * (LW,HW)`. Every word must be known.
 */
function looseType(text: string, words: number | undefined): DataType | undefined {
  const plainText = text
    .slice(0, 60)
    .toLowerCase()
    .replace(/\bdouble ?word\b|\bdoppelwort\b/, 'dword');
  const parts = plainText.match(/\p{L}+|\d+/gu) ?? [];
  const kinds: string[] = [];
  let bits: number | undefined;
  let order: ReturnType<typeof orderOf>;
  for (const [i, part] of parts.entries()) {
    // The order suffixes of ioBroker and others: `uint32be`, `floatsw`.
    const suffixed = /^([a-z]+?)(be|le|sw|sb)$/.exec(part);
    const [word, suffix] =
      suffixed && KINDS.some(([kind]) => kind.test(suffixed[1] ?? ''))
        ? [suffixed[1] ?? '', suffixed[2]]
        : [part, undefined];
    const isLast = i === parts.length - 1;
    const found = orderOf(suffix ?? (isLast || word.length > 2 ? word : ''));
    const rest = orderOf(parts.slice(i).join(''));
    const kind = KINDS.find(([pattern]) => pattern.test(word))?.[1];
    if (kind) kinds.push(kind);
    if (suffix !== undefined) order = orderOf(suffix);
    bits = SIZES[word] ?? bits;
    // The 2 of `16-bit × 2` counts values.
    if (Number(word) === words && parts.slice(0, i).some((each) => /^\d+$/.test(each))) continue;
    if (/^\d+$/.test(word))
      bits = /^byte/.test(parts[i + 1] ?? '') ? 8 * Number(word) : (sizeIn(word, words) ?? bits);
    else if (!kind && i > 0 && (rest ?? found)) {
      order = rest ?? found;
      if (rest) break;
    } else if (!kind && !LOOSE_WORDS.test(word)) return undefined;
  }
  if (kinds.length === 0 && bits !== undefined && parts.some((part) => /^bits?$/.test(part)))
    kinds.push('bits');
  // `unsigned int` is unsigned.
  const family = (['float', 'uint', 'int', 'bits'] as const).find((each) => kinds.includes(each));
  if (family === undefined) return undefined;
  // A byte occupies a whole register.
  const size = bits === undefined ? undefined : Math.max(16, bits);
  const type = typeOf(
    size === undefined
      ? family === 'bits'
        ? 'uint'
        : family
      : family === 'bits'
        ? `uint${size}`
        : `${family}${size}`,
    words,
  );
  return type && { ...type, ...order };
}

/** The types in NIBE's register lists, if they are numbers. */
const NIBE_SIZES: Readonly<Record<string, string>> = {
  ...{ 1: 's8', 2: 's16', 3: 's32', 4: 'u8', 5: 'u16', 6: 'u32' },
};

/** The type that a cell below a header names. */
export function typeText(header: string, cell: string): string {
  return /^size of variable$/i.test(header) ? (NIBE_SIZES[cell] ?? cell) : cell;
}

/** The order that a cell below a header names. VOLTTRON's `Mixed Endian` has the low word first. */
export function orderText(header: string, cell: string): string {
  return /^mixed.?endian$/i.test(header) ? (/^(?:true|yes|1)$/i.test(cell) ? 'cdab' : 'abcd') : cell;
}

/** @param words the number of registers: the 2 of `INT2` may count them, the 16 of `16 bit` never */
function sizeIn(digits: string, words: number | undefined): number | undefined {
  const bits = words !== undefined && words <= 4 && Number(digits) === words ? 16 * words : Number(digits);
  return bits <= 16 || bits === 32 || bits === 64 ? bits : undefined;
}

/** Splits `uint32_le` and `float (CDAB)` into type and order. */
function splitOrder(text: string): readonly [string | undefined, string | undefined] {
  const match = /^\s*([A-Za-z]+ ?\d{0,2})[\s_,(-]+([A-Za-z -]+)\)?\s*$/.exec(text.slice(0, 60));
  return [match?.[1], match?.[2]];
}

function typeOf(word: string, words: number | undefined): DataType | undefined {
  const exact = EXACT.get(word);
  if (exact !== undefined) return { type: exact };
  const string = TEXTS.exec(word);
  if (string) {
    const characters = string[1] === undefined ? undefined : Number(string[1]);
    return { type: 'string', ...(characters && { length: Math.ceil(characters / 2) }) };
  }
  const family = UNSIZED.get(word);
  if (family === undefined) return undefined;
  const usual = family === 'float' || word.endsWith('long') ? 2 : 1;
  const size = words ?? usual;
  if (!(size in SIZED) || (family === 'float' && size === 1)) return undefined;
  const type = `${family}${SIZED[size as Words]}` as ValueType;
  return words === undefined ? { type, assumed: `has no size, read as ${type}` } : { type };
}

function plain(text: string): string {
  return text
    .slice(0, 60)
    .toLowerCase()
    .replace(/[\s_.-]+/g, '');
}

export interface StructureField {
  readonly type: ValueType;
  /** The number of registers in a string. */
  readonly length?: number;
  readonly order: { readonly wordOrder?: Order; readonly byteOrder?: Order };
}

/** The types of Python's `struct` that fill whole registers. */
const CODES = byWord<ValueType>({
  ...{ int16: 'h', uint16: 'H', int32: 'i l', uint32: 'I L', int64: 'q', uint64: 'Q' },
  ...{ float32: 'f', float64: 'd' },
});

const MOST_FIELDS = 125;

/**
 * Parses a format of Python's `struct`, such as `>10f` or `>2Hf`, into its fields in order; `4s` is a string.
 * @returns undefined for a format with anything else, or with half a register
 */
export function fieldsOf(structure: string): readonly StructureField[] | undefined {
  const match = /^([<>!=@]?)((?: *\d{0,3}[A-Za-z?])+) *$/.exec(structure.slice(0, 100));
  if (!match || structure.length > 100) return undefined;
  const [, prefix = '', codes = ''] = match;
  // Without a prefix, the order is native, and Home Assistant runs only on little-endian machines.
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
    const type = CODES.get(code);
    if (type === undefined || fields.length + times > MOST_FIELDS) return undefined;
    for (let i = 0; i < times; i += 1) fields.push({ type, order });
  }
  return fields;
}
