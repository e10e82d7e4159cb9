import type { AddressRange } from '../../modbus/protocol/pdu.js';

/** From the first number to the last, both included. */
export type NumberRange = readonly [first: number, last: number];

export type FieldName =
  | 'line'
  | 'unit'
  | 'fc'
  | 'addr'
  | 'quantity'
  | 'device'
  | 'name'
  | 'value'
  | 'kind'
  | 'direction'
  | 'exception'
  | 'problem'
  | 'damage'
  | 'rule'
  | 'late'
  | 'client'
  | 'host'
  | 'bytes'
  | 'text'
  | 'since'
  | 'until';

/** What a field has to be, one of several. Moments are in µs since 1970, durations in µs. */
export type WantedValues =
  | { readonly texts: readonly string[] }
  | { readonly ranges: readonly NumberRange[] }
  /** The number that a name stands for, and how it has to compare. */
  | {
      readonly name: string;
      readonly operator: '=' | '!=' | '<' | '>' | '<=' | '>=';
      readonly number: number;
    }
  /** Registers or coils that a request has to write. */
  | { readonly writes: WantedWrite }
  /** Whatever it is, if the frame has it. */
  | { readonly any: true };

export interface WantedWrite {
  /** Name of the device; undefined for any device. */
  readonly device: string | undefined;
  /** The table; undefined for coils and holding registers alike. */
  readonly table: 'coils' | 'holding' | undefined;
  readonly address: number;
  readonly quantity: number;
  /** The words of registers, or coils as 0 and 1; undefined when any value will do. */
  readonly words: readonly number[] | undefined;
  /** For each word, the bits that matter; all of them when absent. */
  readonly mask?: readonly number[];
}

/** Registers or coils that a request writes; without values where it changes bits of a register. */
export interface Written {
  readonly table: 'coils' | 'holding';
  readonly address: number;
  readonly values?: readonly number[] | undefined;
}

/** Stands for a reply that is no exception where an exception code could stand: a device may send 0 as a code. */
export const GOOD = -1;

export type Test = { readonly field: FieldName } & WantedValues;

/** Which frames are wanted. `all` of nothing is every frame. */
export type Filter =
  | Test
  | { readonly all: readonly Filter[] }
  | { readonly some: readonly Filter[] }
  | { readonly not: Filter };

/** What filters look at first: it is cheap to read. */
export interface Facts {
  readonly line: string;
  readonly kind: string;
  readonly direction: string;
  /** µs since 1970. */
  readonly timeUs: number;
  readonly unit: number | undefined;
  /** The function code without the exception flag. */
  readonly functionCode: number | undefined;
  /** Undefined as long as it was not read. */
  readonly more?: MoreFacts | undefined;
}

/** The rest of a frame. Each is made when it is asked for. */
export interface MoreFacts {
  readonly client: string | undefined;
  readonly host: string | undefined;
  /** The rules whose faults were to act. */
  readonly rules: readonly string[];
  /** Of the request, also for a response. */
  ranges(): readonly AddressRange[];
  device(): string | undefined;
  /** Of a valid response: its exception code, or `GOOD`. */
  exception(): number | undefined;
  /** Of a reply: whether something went wrong, and whether a rule had ordered that. */
  problem(): 'ordered' | 'unordered' | undefined;
  /** Time from the request to the response, in µs. */
  lateUs(): number | undefined;
  /** Whether the frame is about a value by its name. */
  isAbout(name: string): boolean;
  /** The numbers that the frame has for a name: of each device that has it, what was read or written. */
  numbers(name: string): readonly number[];
  written(): Written | undefined;
  /** Hexadecimal, lower case, without spaces. */
  bytes(): string;
  text(): string;
}

/** The kinds of events that are damage. */
export const DAMAGE: ReadonlySet<string> = new Set([
  'damaged',
  'discarded',
  'duplicate',
  'collision',
  'loop',
  'overrun',
  'damaged characters',
]);

/** The kinds of events that are always problems. Replies are only sometimes. */
const PROBLEMS: ReadonlySet<string> = new Set([...DAMAGE, 'dropped', 'client rejected']);

/** The kinds that can have a field; all when absent. No other event is read for it. */
const KINDS: Readonly<Partial<Record<FieldName, ReadonlySet<string>>>> = {
  rule: new Set(['reply']),
  late: new Set(['reply', 'foreign response']),
  exception: new Set(['reply', 'foreign response', 'duplicate']),
};

/**
 * Whether a frame is wanted; undefined when that can't be said before all of it is read.
 * It takes as long as the filter is long: no test is made twice.
 */
export function matches(filter: Filter, facts: Facts): boolean | undefined {
  if ('field' in filter) return meets(filter, facts);
  if ('not' in filter) {
    const is = matches(filter.not, facts);
    return is === undefined ? undefined : !is;
  }
  const isAll = 'all' in filter;
  let unknown: undefined | boolean = isAll;
  for (const each of isAll ? filter.all : filter.some) {
    const is = matches(each, facts);
    if (is === !isAll) return is;
    if (is === undefined) unknown = undefined;
  }
  return unknown;
}

function meets(test: Test, facts: Facts): boolean | undefined {
  const { line, kind, direction, timeUs, unit, functionCode, more } = facts;
  const { field } = test;
  switch (field) {
    case 'line':
      return isText(test, line);
    case 'kind':
      return isText(test, kind);
    case 'damage':
      return DAMAGE.has(kind) && isText(test, kind);
    case 'direction':
      return isText(test, direction);
    case 'unit':
      return isNumber(test, unit);
    case 'fc':
      return isNumber(test, functionCode);
    case 'since':
    case 'until':
      return isNumber(test, timeUs);
    case 'problem':
      if (kind !== 'reply') return PROBLEMS.has(kind) && isText(test, 'unordered');
      break;
    default:
  }
  if (KINDS[field]?.has(kind) === false) return false;
  if (!more) return undefined;
  switch (field) {
    case 'problem':
      return isText(test, more.problem());
    case 'rule':
      return 'any' in test ? more.rules.length > 0 : more.rules.some((rule) => isText(test, rule));
    case 'client':
      return isText(test, more.client) || isText(test, more.client?.replace(/:\d+$/, ''));
    case 'host':
      return isText(test, more.host);
    case 'addr':
      return 'ranges' in test
        ? more.ranges().some((asked) => test.ranges.some((range) => touches(asked, range)))
        : more.ranges().length > 0;
    case 'quantity':
      return more.ranges().some(({ quantity }) => isNumber(test, quantity));
    case 'device':
      return isText(test, more.device());
    case 'exception': {
      const code = more.exception();
      return isNumber(test, 'any' in test && code === GOOD ? undefined : code);
    }
    case 'late':
      return isNumber(test, more.lateUs());
    case 'name':
      return 'texts' in test && test.texts.some((name) => more.isAbout(name));
    case 'value':
      if ('writes' in test) return isWritten(test.writes, facts, more);
      return 'name' in test && more.numbers(test.name).some((number) => compares(number, test));
    case 'bytes':
      return 'texts' in test && hasBytes(more.bytes(), test.texts);
    case 'text': {
      const text = more.text().toLowerCase();
      return 'texts' in test && test.texts.some((part) => text.includes(part));
    }
    default:
      return false;
  }
}

function isText(test: Test, text: string | undefined): boolean {
  if (text === undefined) return false;
  return 'any' in test || ('texts' in test && test.texts.includes(text));
}

function isNumber(test: Test, number: number | undefined): boolean {
  if (number === undefined) return false;
  return (
    'any' in test ||
    ('ranges' in test && test.ranges.some(([first, last]) => first <= number && number <= last))
  );
}

function touches({ address, quantity }: AddressRange, [first, last]: NumberRange): boolean {
  return address <= last && first < address + quantity;
}

/** Whether some of these bytes are in others, from the first digit of a byte on. */
function hasBytes(all: string, parts: readonly string[]): boolean {
  return parts.some((part) => {
    let at = all.indexOf(part);
    while (at % 2 === 1) at = all.indexOf(part, at + 1);
    return at >= 0;
  });
}

function compares(found: number, { operator, number }: Extract<Test, { operator: unknown }>): boolean {
  switch (operator) {
    case '=':
      return found === number;
    case '!=':
      return found !== number;
    case '<':
      return found < number;
    case '>':
      return found > number;
    case '<=':
      return found <= number;
    case '>=':
      return found >= number;
  }
}

/** True when a request writes all that is wanted. */
function isWritten(
  { device, table, address, words, quantity, mask }: WantedWrite,
  { kind }: Facts,
  more: MoreFacts,
) {
  const written = more.written();
  if (!written || (table !== undefined && written.table !== table)) return false;
  // A broadcast is for all devices of the line.
  if (device !== undefined && more.device() !== device && kind !== 'broadcast') return false;
  const { values } = written;
  if (words === undefined) {
    const end = written.address + (values?.length ?? 1);
    return written.address < address + quantity && address < end;
  }
  return words.every((word, i) => {
    const found = values?.[address + i - written.address];
    if (mask === undefined) return found === word;
    const bits = mask[i] as number;
    return bits === 0 || (found !== undefined && (found & bits) === word);
  });
}

/** All tests of a filter, whether negated or not. */
export function testsIn(filter: Filter): readonly Test[] {
  if ('field' in filter) return [filter];
  if ('not' in filter) return testsIn(filter.not);
  return ('all' in filter ? filter.all : filter.some).flatMap(testsIn);
}
