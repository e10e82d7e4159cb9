import { isOfBits, type TableName } from '../../../device/tables.js';

export interface WrittenAddress {
  readonly number: number;
  /** True for a decimal form of five or six digits, like the register numbers in manuals. */
  readonly isLong: boolean;
  /** True if it has six digits. */
  readonly hasSix?: boolean;
  /** The number of registers in a range such as `100-101`. */
  readonly words?: number;
  /** The bit in `100.3`, `100:3` or `100.b3`. */
  readonly bit?: number;
  /** The table that a word before the number names: `input 35`, `HR100`. */
  readonly table?: TableName;
  /** True for a KEPServerEX string such as `400020.16H`, whose length is in bytes. */
  readonly isString?: boolean;
}

/** How all addresses in a file are interpreted. */
export interface AddressStyle {
  /** True if addresses are hexadecimal without a prefix or suffix that shows it. */
  readonly isHex: boolean;
  /**
   * Defined if addresses are register numbers: the number of the first register in each table. If it is 1,
   * 40001 is holding register 0, 30001 is input register 0, and so on; if it is 0, 400000 is holding register
   * 0.
   */
  readonly numbersFrom: 0 | 1 | undefined;
  /** True if register numbers have six digits, so five digits are not a register number. */
  readonly haveSix?: boolean;
  /** How many addresses could be read the other way, if most of them could. */
  readonly others?: number;
}

const PATTERN =
  /^(0x|x(?=[0-9a-f]{3}))?([0-9a-f]+)(h)?(?:\s*(?:[-–~,/]|\.\.|to|bis)\s*(?:0?x)?([0-9a-f]+)h?)?(?:[.:]b?(\d{1,2}))?$/i;
const KEP_STRING = /^(\d{5,6})\.(\d{1,3})[HL]$/i;
/** A register number with its table digit before an x: `4x0001`, `3X00012`. */
const WITH_DIGIT = /^([134])x(\d{4,5})$/i;

/** An address after the name of its table, as in `input 35` and `HR100`. */
const WITH_TABLE =
  /^(?:(holding|hr)|(input|ir)|(coils?)|(discrete(?: ?inputs?)?))(?: ?reg(?:ister)?s?\.?)?[ :#_]*(?=\d)/i;

/** The text of an address without comments, a number in brackets or further lines. */
function bareAddress(text: string): string {
  return text
    .slice(0, 80)
    .replace(/<!--.*?-->|\([^)]*\)|[`*]/g, '')
    .replace(/<br.*$|\n.*$/is, '')
    .replace(/^r(?=\d)/i, '')
    .trim();
}

/**
 * Decides whether the addresses in a column are hexadecimal: the header says so, or some contain letters and
 * all are valid hexadecimal.
 */
export function areHex(header: string, cells: readonly string[]): boolean {
  if (/hex/i.test(header)) return true;
  const bare = cells.filter((cell) => !/^0x|h$/i.test(cell));
  return (
    bare.some((cell) => /^\d*[a-f][0-9a-f]*\b/i.test(cell)) &&
    bare.every((cell) => /^[0-9a-f]{1,5}(?:\s*[-–~,/]\s*[0-9a-f]{1,5})?$/i.test(cell))
  );
}

/** Parses an address. @returns undefined if the text is not an address */
export function writtenAddress(text: string, isHex: boolean): WrittenAddress | undefined {
  const bare = isHex ? bareAddress(text).replace(/\s+/g, '') : bareAddress(text);
  const named = WITH_TABLE.exec(bare);
  if (named) {
    const table = (['holding', 'input', 'coils', 'discrete'] as const).find((_, i) => named[i + 1]);
    const rest = writtenAddress(bare.slice(named[0].length), isHex);
    return rest && { ...rest, ...(table && { table }) };
  }
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
  // The end of a range may lack the digits that it has in common with the beginning: 30004-05.
  const isShort = end !== undefined && /\d{2}$/.test(end) && end.length < digits.length && /[-–~]/.test(bare);
  const last = [end, isShort ? digits.slice(0, -end.length) + end : undefined]
    .map((each) => Number.parseInt(each ?? '', base))
    .find((each) => each >= number);
  if (end !== undefined && last === undefined) return undefined;
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
 * The table and address that a register number of five or six digits stands for: 40001 is holding register 0.
 * @param said the table that its row names
 */
export function numbered(
  { number, isLong, hasSix = false }: WrittenAddress,
  from: 0 | 1 = 1,
  haveSix = false,
  said?: TableName,
): { table: TableName; address: number } | undefined {
  // A coil number without its zeros: 8193 for 008193.
  if (haveSix && !hasSix && said === 'coils' && number >= from)
    return { table: said, address: number - from };
  if (!isLong || (haveSix && !hasSix)) return undefined;
  const span = hasSix ? 100_000 : 10_000;
  const table = TABLE_OF_DIGIT[Math.floor(number / span)];
  const address = (number % span) - from;
  return table === undefined || address < 0 || address > 65_535 ? undefined : { table, address };
}

/** If at least this fraction of the addresses could be register numbers, `others` counts them. */
const MOST = 0.8;

/**
 * Decides whether the addresses in a file are register numbers. All must be, each in the table that its row
 * names, if any, and none may be a coil with a 16-bit type. A single address that is not a register number,
 * such as 40000 or 12, decides against it; so does a lowest address such as 33000. If some addresses are too
 * large for the wire, they are register numbers regardless, whatever a title says; in that case 400000 shows
 * that the numbers start at 0.
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
    const meant = numbered(address, from, isBeyond, table);
    if (meant === undefined || (!isBeyond && table !== undefined && table !== meant.table)) return false;
    return !(isWord && isOfBits(meant.table)) && DIGIT_OF_TABLE[meant.table];
  });
  const numbers = tables.filter((digit) => digit !== false);
  // If all of them were coil numbers, they could equally be addresses with leading zeros.
  const hasTables = numbers.some((digit) => digit !== 0);
  const areAll = numbers.length === all.length;
  // Register numbers in a manual begin with 33001, addresses on the wire with 33000.
  const lowest = all.reduce(
    (least, { address }) => Math.min(least, address.number),
    Number.POSITIVE_INFINITY,
  );
  if (hasTables && (isBeyond || (areAll && lowest % 1000 !== 0)))
    return { numbersFrom: from, haveSix: isBeyond };
  const isNear = hasTables && numbers.length >= MOST * all.length;
  return { numbersFrom: undefined, ...(isNear && { others: numbers.length }) };
}
