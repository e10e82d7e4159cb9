/** How registers are shown. `values`: by their types and in their units, and everything else as numbers. */
export const FORMATS = {
  values: 'values',
  unsigned: 'decimal',
  signed: 'decimal, signed',
  hex: 'hexadecimal',
  bits: 'bits',
  float: 'float 32, high word first',
  'float-swapped': 'float 32, low word first',
  text: 'text',
} as const;

export type Format = keyof typeof FORMATS;

/** Registers that a cell of a format shows. */
export function wordsOf(format: Format): 1 | 2 {
  return format === 'float' || format === 'float-swapped' ? 2 : 1;
}

/** As many as fit in one request. */
const MOST_WORDS = 123;
const NOT_PRINTED = '·';

/** What words say in a format. Two for a float, one otherwise. */
export function textOf(format: Format, words: readonly number[], bits: 1 | 16): string {
  const [word = 0] = words;
  if (bits === 1) return String(word);
  switch (format) {
    case 'hex':
      return word.toString(16).toUpperCase().padStart(4, '0');
    case 'signed':
      return String(word > 0x7fff ? word - 0x10000 : word);
    case 'bits':
      return word
        .toString(2)
        .padStart(16, '0')
        .replace(/....(?=.)/g, '$& ');
    case 'text':
      return [word >> 8, word & 0xff].map(printed).join('');
    case 'float':
    case 'float-swapped':
      return words.length < 2 ? '' : floatText(floatOf(format === 'float' ? words : [...words].reverse()));
    default:
      return String(word);
  }
}

/** Words that a text in a format means, or what was expected instead. */
export function parseText(
  format: Format,
  text: string,
  bits: 1 | 16,
): { readonly words: readonly number[] } | { readonly expected: string } {
  const trimmed = text.trim();
  if (bits === 1) {
    const bit = { 0: 0, off: 0, false: 0, 1: 1, on: 1, true: 1 }[trimmed.toLowerCase()];
    return bit === undefined ? { expected: '0 or 1' } : { words: [bit] };
  }
  switch (format) {
    case 'hex':
      return /^(0x)?[0-9a-f]{1,4}$/i.test(trimmed)
        ? { words: [Number.parseInt(trimmed.replace(/^0x/i, ''), 16)] }
        : { expected: 'one to four hexadecimal digits' };
    case 'bits': {
      const digits = trimmed.replaceAll(' ', '');
      return /^[01]{1,16}$/.test(digits)
        ? { words: [Number.parseInt(digits, 2)] }
        : { expected: 'at most 16 digits 0 and 1' };
    }
    case 'text':
      return wordsOfText(text);
    case 'float':
    case 'float-swapped': {
      const value = SPECIAL[trimmed.toLowerCase()] ?? (trimmed === '' ? Number.NaN : Number(trimmed));
      if (Number.isNaN(value) && trimmed.toLowerCase() !== 'nan') return { expected: 'a number' };
      if (Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
        return { expected: 'a number that a float of 32 bits can hold' };
      const view = new DataView(new ArrayBuffer(4));
      view.setFloat32(0, value);
      const words = [view.getUint16(0), view.getUint16(2)];
      return { words: format === 'float' ? words : words.reverse() };
    }
    default:
      return wholeNumber(trimmed, format === 'signed' ? -32_768 : 0, format === 'signed' ? 32_767 : 65_535);
  }
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity };

function wholeNumber(text: string, min: number, max: number) {
  const value = /^([+-]?\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : Number.NaN;
  const isIn = value >= min && value <= max;
  return isIn ? { words: [value & 0xffff] } : { expected: `a whole number from ${min} to ${max}` };
}

function wordsOfText(text: string) {
  const bytes = [...new TextEncoder().encode(text)];
  if (bytes.length === 0 || bytes.length > 2 * MOST_WORDS)
    return { expected: `text of 1 to ${2 * MOST_WORDS} bytes` };
  const words = Array.from(
    { length: Math.ceil(bytes.length / 2) },
    (_, i) => ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] ?? 0),
  );
  return { words };
}

function printed(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : NOT_PRINTED;
}

function floatOf([high = 0, low = 0]: readonly number[]): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, high);
  view.setUint16(2, low);
  return view.getFloat32(0);
}

/** The shortest text that means the same float of 32 bits. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace('Infinity', 'inf');
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}
