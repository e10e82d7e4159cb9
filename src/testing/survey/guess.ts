import type { TableName } from '../../device/tables.js';
import { runsOf, type TableSurvey } from './table-survey.js';

/** What registers may contain, and the reason for the guess. */
export interface Guess {
  readonly address: number;
  readonly type: 'string' | 'float32' | 'uint32';
  /** The number of registers in a string. */
  readonly length?: number;
  readonly value: string | number;
  readonly why: string;
}

/** Minimum length of a text. Shorter ones occur in numbers too, unless NUL ends them. */
const SHORTEST_TEXT = 8;
const SHORTEST_ENDED = 4;

/** The limits of measured floats; 0 is a measurement too. */
const FLOATS = { least: 1e-3, most: 1e7 };

/**
 * Guesses which registers in a table contain texts, floats and counters; makes no guess about the others.
 * @param moved the registers that have changed since they were read, with their new values
 */
export function guessesOf(
  { table, values }: Pick<TableSurvey, 'table' | 'values'>,
  moved: ReadonlyMap<number, number> = new Map(),
): Guess[] {
  if (!hasWords(table)) return [];
  return runsOf(values).flatMap(({ start, length }) => {
    const guesses: Guess[] = [];
    const end = start + length;
    for (let address = start; address < end; ) {
      const guess =
        textAt(values, address, end) ??
        floatAt(values, address, end) ??
        counterAt(values, moved, address, end);
      if (guess) guesses.push(guess);
      address += guess ? (guess.length ?? 2) : 1;
    }
    return guesses;
  });
}

function hasWords(table: TableName): boolean {
  return table === 'holding' || table === 'input';
}

type Values = ReadonlyMap<number, number>;

function textAt(values: Values, start: number, end: number): Guess | undefined {
  let text = '';
  let isEnded = false;
  let address = start;
  for (; address < end; address++) {
    const word = values.get(address) as number;
    const bytes = [word >> 8, word & 0xff];
    const isReadable = bytes.every((byte) => byte === 0 || (byte >= 0x20 && byte <= 0x7e));
    if (!isReadable || bytes[0] === 0) break;
    text += String.fromCharCode(...bytes.filter((byte) => byte !== 0));
    if (bytes[1] === 0) {
      isEnded = true;
      address++;
      break;
    }
  }
  isEnded ||= values.get(address) === 0;
  const isText = text.length >= (isEnded ? SHORTEST_ENDED : SHORTEST_TEXT) && /^[\w .,:/+()-]+$/.test(text);
  if (!isText) return undefined;
  const length = address - start;
  return { address: start, type: 'string', length, value: text, why: `${length} registers read as text` };
}

/** Takes two registers for a float if the low word is in use, or if the next two look like a float too. */
function floatAt(values: Values, address: number, end: number): Guess | undefined {
  const value = measuredAt(values, address, end);
  if (value === undefined) return undefined;
  const isExact = values.get(address + 1) === 0;
  if (isExact && measuredAt(values, address + 2, end) === undefined) return undefined;
  return { address, type: 'float32', value, why: `${value} looks measured` };
}

function measuredAt(values: Values, address: number, end: number): number | undefined {
  if (address + 1 >= end) return undefined;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(values.get(address) as number, 0);
  bytes.writeUInt16BE(values.get(address + 1) as number, 2);
  const value = bytes.readFloatBE(0);
  const size = Math.abs(value);
  return size >= FLOATS.least && size <= FLOATS.most ? Number(value.toPrecision(7)) : undefined;
}

/** Takes two registers for a counter if the low one rose while the high one stayed the same or rose by one. */
function counterAt(values: Values, moved: Values, address: number, end: number): Guess | undefined {
  const low = moved.get(address + 1);
  if (address + 1 >= end || low === undefined) return undefined;
  const at = (high: number, word: number) => high * 0x10000 + word;
  const high = values.get(address) as number;
  const before = at(high, values.get(address + 1) as number);
  const after = at(moved.get(address) ?? high, low);
  const rose = after - before;
  if (rose <= 0 || rose > 0xffff || high > 0xff) return undefined;
  return { address, type: 'uint32', value: before, why: `rose by ${rose} while observed` };
}
