/** A format: converts registers to text and back. */
interface FormatRow {
  readonly title: string;
  /** Number of registers in a cell. */
  readonly words: 1 | 2;
  /** Minimum width of a cell, in CSS pixels. */
  readonly width: number;
  readonly text: (words: readonly number[]) => string;
  /** The words for a text; undefined if it is not valid. */
  readonly parse: (text: string) => readonly number[] | undefined;
  /** The words after "expected" in a message about an invalid text. */
  readonly expected: string;
}

/** Maximum number of registers in one request. */
const MOST_WORDS = 123;

const FLOAT_HIGH_FIRST: FormatRow = {
  title: 'float 32, high word first',
  words: 2,
  width: 58,
  text: (words) => (words.length < 2 ? '' : floatText(floatOf(words))),
  parse: wordsOfFloat,
  expected: 'a number that a 32-bit float can hold',
};
const UNSIGNED = whole('decimal', 56, 0, 65_535);

/**
 * The formats, by their name in the page's address. `values` shows values according to their types and in
 * their units, and other registers as numbers.
 */
export const FORMATS = {
  values: { ...UNSIGNED, title: 'values', width: 210 },
  unsigned: UNSIGNED,
  signed: whole('decimal, signed', 60, -32_768, 32_767),
  hex: {
    ...digits(16, /^[0-9a-f]{1,4}$/i, 'one to four hexadecimal digits'),
    title: 'hexadecimal',
    width: 50,
    text: ([word = 0]) => word.toString(16).toUpperCase().padStart(4, '0'),
  },
  bits: {
    ...digits(2, /^[01]{1,16}$/, 'at most 16 digits 0 and 1'),
    title: 'bits',
    width: 160,
    text: ([word = 0]) =>
      word
        .toString(2)
        .padStart(16, '0')
        .replace(/....(?=.)/g, '$& '),
  },
  float: FLOAT_HIGH_FIRST,
  'float-swapped': {
    ...FLOAT_HIGH_FIRST,
    title: 'float 32, low word first',
    text: (words) => FLOAT_HIGH_FIRST.text(words.toReversed()),
    parse: (text) => wordsOfFloat(text)?.toReversed(),
  },
  text: {
    title: 'text',
    words: 1,
    width: 36,
    text: ([word = 0]) => [word >> 8, word & 0xff].map(printed).join(''),
    parse: wordsOfText,
    expected: `text of 1 to ${2 * MOST_WORDS} bytes`,
  },
} satisfies Readonly<Record<string, FormatRow>>;

export type Format = keyof typeof FORMATS;

/** Number of registers in a cell with this format. */
export function wordsOf(format: Format): 1 | 2 {
  return FORMATS[format].words;
}

/** Formats words: two words for a float, otherwise one. */
export function textOf(format: Format, words: readonly number[], bits: 1 | 16): string {
  return bits === 1 ? String(words[0]) : FORMATS[format].text(words);
}

/** Parses a text into words. Returns what was expected if it is not valid. */
export function parseText(
  format: Format,
  text: string,
  bits: 1 | 16,
): { readonly words: readonly number[] } | { readonly expected: string } {
  if (bits === 1) {
    const bit = { 0: 0, off: 0, false: 0, 1: 1, on: 1, true: 1 }[text.trim().toLowerCase()];
    return bit === undefined ? { expected: '0 or 1' } : { words: [bit] };
  }
  const { parse, expected } = FORMATS[format];
  const words = parse(format === 'text' ? text : text.trim());
  return words ? { words } : { expected };
}

function whole(title: string, width: number, min: number, max: number): FormatRow {
  return {
    title,
    words: 1,
    width,
    text: ([word = 0]) => String(word > max ? word - 0x10000 : word),
    parse: (text) => {
      const value = /^([+-]?\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? [value & 0xffff] : undefined;
    },
    expected: `a whole number from ${min} to ${max}`,
  };
}

function digits(
  base: number,
  pattern: RegExp,
  expected: string,
): Pick<FormatRow, 'words' | 'parse' | 'expected'> {
  const parse = (text: string) => {
    const plain = text.replace(base === 16 ? /^0x/i : / /g, '');
    return pattern.test(plain) ? [Number.parseInt(plain, base)] : undefined;
  };
  return { words: 1, parse, expected };
}

function wordsOfText(text: string): number[] | undefined {
  const bytes = [...new TextEncoder().encode(text)];
  if (bytes.length === 0 || bytes.length > 2 * MOST_WORDS) return undefined;
  return Array.from(
    { length: Math.ceil(bytes.length / 2) },
    (_, i) => ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] ?? 0),
  );
}

function printed(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·';
}

function wordsOfFloat(text: string): number[] | undefined {
  const word = text.toLowerCase();
  const value = { inf: Infinity, '-inf': -Infinity }[word] ?? (word === '' ? Number.NaN : Number(word));
  const isHeld = Number.isFinite(Math.fround(value)) === Number.isFinite(value);
  if (!isHeld || (Number.isNaN(value) && word !== 'nan')) return undefined;
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return [view.getUint16(0), view.getUint16(2)];
}

function floatOf([high = 0, low = 0]: readonly number[]): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, high);
  view.setUint16(2, low);
  return view.getFloat32(0);
}

/** The shortest text for the same 32-bit float. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace('Infinity', 'inf');
  return String(shortestFloat(value));
}

/** The shortest decimal number that gives the same 32-bit float: 230.1 for 230.10000610351562. */
export function shortestFloat(value: number): number {
  const digits = [6, 7, 8].find((each) => Math.fround(Number(value.toPrecision(each))) === value);
  return digits ? Number(value.toPrecision(digits)) : value;
}
