import type { AddressRange } from '../../modbus/protocol/pdu.js';

/** From the first number to the last, inclusive. */
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

/** The values that a field may have; one must match. Times are in µs since 1970, durations in µs. */
export type WantedValues =
  | { readonly texts: readonly string[] }
  | { readonly ranges: readonly NumberRange[] }
  /** A named number, and how it must compare. */
  | {
      readonly name: string;
      readonly operator: '=' | '!=' | '<' | '>' | '<=' | '>=';
      readonly number: number;
    }
  /** Registers or coils that a request must write. */
  | { readonly writes: WantedWrite }
  /** Any value, if the frame has the field. */
  | { readonly any: true };

export interface WantedWrite {
  /** Name of the device; undefined for any device. */
  readonly device: string | undefined;
  /** The table; undefined for both coils and holding registers. */
  readonly table: 'coils' | 'holding' | undefined;
  readonly address: number;
  readonly quantity: number;
  /** The words of registers, or coils as 0 and 1; undefined for any value. */
  readonly words: readonly number[] | undefined;
  /** For each word, the bits that matter; all bits when absent. */
  readonly mask?: readonly number[];
}

/** Registers or coils that a request writes; without values if it only changes bits of a register. */
export interface Written {
  readonly table: 'coils' | 'holding';
  readonly address: number;
  readonly values?: readonly number[] | undefined;
}

/** Marks a reply that is not an exception, in place of an exception code. A device may send 0 as a code. */
export const GOOD = -1;

export type Test = { readonly field: FieldName } & WantedValues;

/** Which frames match. `all` with an empty list matches every frame. */
export type Filter =
  | Test
  | { readonly all: readonly Filter[] }
  | { readonly some: readonly Filter[] }
  | { readonly not: Filter };

/** What filters test first, because it is cheap to read. */
export interface Facts {
  readonly line: string;
  readonly kind: string;
  readonly direction: string;
  /** µs since 1970. */
  readonly timeUs: number;
  readonly unit: number | undefined;
  /** The function code without the exception flag. */
  readonly functionCode: number | undefined;
  /** Undefined until it is read. */
  readonly more?: MoreFacts | undefined;
}

/** The rest of a frame. Each part is computed when it is needed. */
export interface MoreFacts {
  readonly client: string | undefined;
  readonly host: string | undefined;
  /** The rules whose faults were meant to act. */
  readonly rules: readonly string[];
  /** The addresses of the request, for a response too. */
  ranges(): readonly AddressRange[];
  device(): string | undefined;
  /** The exception code of a valid response, or `GOOD`. */
  exception(): number | undefined;
  /** For a reply: whether something went wrong, and whether a rule caused it. */
  problem(): 'ordered' | 'unordered' | undefined;
  /** Time from the request to the response, in µs. */
  lateUs(): number | undefined;
  /** Whether the frame concerns the value with this name. */
  isAbout(name: string): boolean;
  /** The numbers read or written in the frame for a name, from each device that has it. */
  numbers(name: string): readonly number[];
  written(): Written | undefined;
  /** Lower-case hexadecimal without spaces. */
  bytes(): string;
  text(): string;
}

/** The kinds of events that report damage. */
export const DAMAGE: ReadonlySet<string> = new Set([
  'damaged',
  'discarded',
  'duplicate',
  'collision',
  'loop',
  'overrun',
  'damaged characters',
]);

/** The kinds of events that are always problems. Replies are only sometimes problems. */
const PROBLEMS: ReadonlySet<string> = new Set([...DAMAGE, 'dropped', 'client rejected']);

/** The kinds that can have a field; all when absent. The field is not read from other events. */
const KINDS: Readonly<Partial<Record<FieldName, ReadonlySet<string>>>> = {
  rule: new Set(['reply']),
  late: new Set(['reply', 'foreign response']),
  exception: new Set(['reply', 'foreign response', 'duplicate']),
};

/**
 * Whether a frame matches; undefined if this can't be decided until all of it is read. The time is
 * proportional to the length of the filter: no test is done twice.
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

/** Whether some of these bytes occur in others, aligned to whole bytes. */
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

/** True if a request writes everything that must be written. */
function isWritten(
  { device, table, address, words, quantity, mask }: WantedWrite,
  { kind }: Facts,
  more: MoreFacts,
) {
  const written = more.written();
  if (!written || (table !== undefined && written.table !== table)) return false;
  // A broadcast is for all devices on the line.
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

/** All tests in a filter, negated or not. */
export function testsIn(filter: Filter): readonly Test[] {
  if ('field' in filter) return [filter];
  if ('not' in filter) return testsIn(filter.not);
  return ('all' in filter ? filter.all : filter.some).flatMap(testsIn);
}
