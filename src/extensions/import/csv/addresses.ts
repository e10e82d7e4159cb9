import { isOfBits, type TableName } from '../../../device/tables.js';

export interface WrittenAddress {
  readonly number: number;
  /** True for a decimal form of five or six digits, as register numbers in manuals have. */
  readonly isLong: boolean;
  /** True for one of six digits. */
  readonly hasSix?: boolean;
  /** The number of registers of a range such as `100-101`. */
  readonly words?: number;
  /** The bit of `100.3`, `100:3` or `100.b3`. */
  readonly bit?: number;
  /** True for a string of KEPServerEX, `400020.16H`, whose bytes are counted. */
  readonly isString?: boolean;
}

/** How all addresses of a file are read. */
export interface AddressStyle {
  /** True when addresses are hexadecimal without a mark that says so. */
  readonly isHex: boolean;
  /**
   * Defined when addresses are register numbers: the number of the first register of each table. From 1 on, 40001 is
   * holding register 0, 30001 input register 0, and so on; from 0 on, 400000 is.
   */
  readonly numbersFrom: 0 | 1 | undefined;
  /** True where numbers have six digits, so those of five are none. */
  readonly haveSix?: boolean;
  /** How many addresses could be read the other way, where those are most. */
  readonly others?: number;
}

const PATTERN =
  /^(0?x)?([0-9a-f]+)(h)?(?:\s*(?:[-–~,/]|\.\.|to|bis)\s*(?:0?x)?([0-9a-f]+)h?)?(?:[.:]b?(\d{1,2}))?$/i;
const KEP_STRING = /^(\d{5,6})\.(\d{1,3})[HL]$/i;
/** A register number with its digit before an x: `4x0001`, `3X00012`. */
const WITH_DIGIT = /^([134])x(\d{4,5})$/i;

/** The text of an address without what is beside it: comments, a number in brackets, further lines. */
function bareAddress(text: string): string {
  return text
    .slice(0, 80)
    .replace(/<!--.*?-->|\([^)]*\)|[`*]/g, '')
    .replace(/<br.*$|\n.*$/is, '')
    .replace(/^r(?=\d)/i, '')
    .trim();
}

/**
 * Decides whether a column has hexadecimal addresses: its header says so, or some addresses have letters and
 * all can be read so.
 */
export function areHex(header: string, cells: readonly string[]): boolean {
  if (/hex/i.test(header)) return true;
  const bare = cells.filter((cell) => !/^0x|h$/i.test(cell));
  return (
    bare.some((cell) => /^\d*[a-f][0-9a-f]*\b/i.test(cell)) &&
    bare.every((cell) => /^[0-9a-f]{1,5}(?:\s*[-–~,/]\s*[0-9a-f]{1,5})?$/i.test(cell))
  );
}

/** Reads an address. @returns undefined when the text is no address */
export function writtenAddress(text: string, isHex: boolean): WrittenAddress | undefined {
  const bare = isHex ? bareAddress(text).replace(/\s+/g, '') : bareAddress(text);
  const digit = WITH_DIGIT.exec(bare);
  if (digit) return writtenAddress(`${digit[1]}${digit[2]?.padStart(5, '0')}`, false);
  const string = KEP_STRING.exec(bare);
  if (string) {
    const words = Math.ceil(Number(string[2]) / 2);
    return {
      number: Number(string[1]),
      isLong: true,
      hasSix: string[1]?.length === 6,
      words,
      isString: true,
    };
  }
  const match = PATTERN.exec(bare);
  if (!match) return undefined;
  const [, prefix, digits = '', suffix, end, bit] = match;
  const base = isHex || prefix || suffix ? 16 : 10;
  if (base === 10 && !/^\d+$/.test(digits + (end ?? ''))) return undefined;
  const number = Number.parseInt(digits, base);
  const last = end === undefined ? undefined : Number.parseInt(end, base);
  if (last !== undefined && last < number) return undefined;
  return {
    number,
    isLong: base === 10 && (digits.length === 5 || digits.length === 6),
    hasSix: base === 10 && digits.length === 6,
    ...(last !== undefined && { words: last - number + 1 }),
    ...(bit !== undefined && { bit: Number(bit) }),
  };
}

const TABLE_OF_DIGIT: Readonly<Record<string, TableName>> = {
  0: 'coils',
  1: 'discrete',
  3: 'input',
  4: 'holding',
};
const DIGIT_OF_TABLE: Readonly<Record<TableName, number>> = { coils: 0, discrete: 1, input: 3, holding: 4 };

/**
 * The table and the address that a register number of five or six digits means: 40001 is holding register 0.
 */
export function numbered(
  { number, isLong, hasSix = false }: WrittenAddress,
  from: 0 | 1 = 1,
  haveSix = false,
): { table: TableName; address: number } | undefined {
  if (!isLong || (haveSix && !hasSix)) return undefined;
  const span = hasSix ? 100_000 : 10_000;
  const table = TABLE_OF_DIGIT[Math.floor(number / span)];
  const address = (number % span) - from;
  return table === undefined || address < 0 || address > 65_535 ? undefined : { table, address };
}

/** How many of the addresses have to be register numbers to say that they could be. */
const MOST = 0.8;

/**
 * Decides whether the addresses of a file are register numbers: all must be, and each of the table that its
 * row names, if any, and none a coil whose type has 16 bits. A single address that is no register number, such as 40000 or 12, decides against it,
 * unless others are too great for an address on the wire, whatever a title says. So does a lowest one such as 33000. Then 400000 shows that the numbers count from 0.
 */
export function numbersFrom(
  all: readonly { address: WrittenAddress; table: TableName | undefined; isWord?: boolean }[],
): Omit<AddressStyle, 'isHex'> {
  const isBeyond = all.some(({ address }) => address.isLong && address.number > 65_535);
  const isFromZero = all.some(
    ({ address: { isLong, number } }) => isLong && number >= 100_000 && number % 100_000 === 0,
  );
  const from = isBeyond && isFromZero ? 0 : 1;
  const tables = all.map(({ address, table, isWord = false }) => {
    const meant = numbered(address, from, isBeyond);
    if (meant === undefined || (!isBeyond && table !== undefined && table !== meant.table)) return false;
    return !(isWord && isOfBits(meant.table)) && DIGIT_OF_TABLE[meant.table];
  });
  const numbers = tables.filter((digit) => digit !== false);
  // If all of them were numbers of coils, they could as well be addresses with leading zeros.
  const hasTables = numbers.some((digit) => digit !== 0);
  const areAll = numbers.length === all.length;
  // Numbers of a manual begin with 33001, addresses on the wire with 33000.
  const lowest = all.reduce(
    (least, { address }) => Math.min(least, address.number),
    Number.POSITIVE_INFINITY,
  );
  if (hasTables && (isBeyond || (areAll && lowest % 1000 !== 0)))
    return { numbersFrom: from, haveSix: isBeyond };
  const isNear = hasTables && numbers.length >= MOST * all.length;
  return { numbersFrom: undefined, ...(isNear && { others: numbers.length }) };
}
