import { failure, type Result, success } from '../../common/result.js';
import { DURATION, milliseconds, momentOf } from '../../common/schema/milliseconds.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { ExceptionCode, FunctionCode, namesOf } from '../../modbus/protocol/function-code.js';
import { DIRECTIONS, EVENT_KINDS } from '../traffic/event.js';
import { DAMAGE, type FieldName, GOOD, type NumberRange, type WantedValues } from './filter.js';

/** A property of frames that filters can test, and its syntax. */
export interface Field {
  /** Another name, used by REST parameters. */
  readonly also?: string;
  readonly takes: 'numbers' | 'texts' | 'choices' | 'duration' | 'moment' | 'bytes' | 'value';
  /** What it tests, in a few words. */
  readonly about: string;
  /** The words after "expected" if the value is wrong. */
  readonly expected: string;
  /** For numbers: the maximum, and names for some of them. */
  readonly max?: number;
  readonly names?: ReadonlyMap<number, string>;
  readonly choices?: readonly string[];
  /** The field may be used without a value, to test whether a frame has it. */
  readonly alone?: true;
}

const MOMENT = 'a time such as 2026-03-01T12:00:00Z, or how long ago, such as 30s or 5m';
const ranged = (what: string, max: number) => `${what} from 0 to ${max}, or a range such as 1-9`;

/** All fields, in the order in which they are offered. Values are separated by commas; one of them must match. */
export const FIELDS: Readonly<Record<FieldName, Field>> = {
  line: { takes: 'texts', about: 'the line', expected: 'the name of a line' },
  unit: {
    takes: 'numbers',
    about: 'the unit identifier',
    expected: ranged('a unit identifier', 255),
    max: 255,
  },
  fc: {
    also: 'function',
    takes: 'numbers',
    about: 'the function: its code, or a part of its name',
    expected: ranged('a function code', 127),
    max: 127,
    names: namesOf(FunctionCode),
  },
  addr: {
    also: 'address',
    takes: 'numbers',
    about: 'an address that the request names',
    expected: ranged('an address', 65_535),
    max: 65_535,
    alone: true,
  },
  quantity: {
    takes: 'numbers',
    about: 'how many registers or coils the request names',
    expected: ranged('a quantity', 65_535),
    max: 65_535,
  },
  device: { takes: 'texts', about: 'the simulated device', expected: 'the name of a device' },
  name: { takes: 'texts', about: 'a value by its name', expected: 'the name of a value' },
  value: {
    takes: 'value',
    about: 'a named value',
    expected: 'a name, a comparison and a number, such as voltage>240',
  },
  kind: {
    takes: 'choices',
    about: 'the kind of event',
    expected: `one of ${EVENT_KINDS.join(', ')}`,
    choices: EVENT_KINDS,
  },
  direction: {
    takes: 'choices',
    about: 'the direction',
    expected: `one of ${DIRECTIONS.join(', ')}`,
    choices: DIRECTIONS,
  },
  exception: {
    takes: 'numbers',
    about: 'any exception, or one by its code or a part of its name; none for a normal reply',
    expected: ranged('an exception code', 255),
    max: 255,
    names: new Map([...namesOf(ExceptionCode), [GOOD, 'none']]),
    alone: true,
  },
  problem: {
    takes: 'choices',
    about: 'problems: ordered (caused by rules) or unordered',
    expected: 'ordered or unordered',
    choices: ['ordered', 'unordered'],
    alone: true,
  },
  damage: {
    takes: 'choices',
    about: 'damaged bytes, collisions and the like',
    expected: `one of ${[...DAMAGE].join(', ')}`,
    choices: [...DAMAGE],
    alone: true,
  },
  rule: { takes: 'texts', about: 'a fault rule that acted', expected: 'the name of a rule', alone: true },
  late: {
    takes: 'duration',
    about: 'the time from the request to the reply',
    expected: 'a comparison with a time, such as >50ms',
  },
  client: {
    takes: 'texts',
    about: 'the client: its address, or with its port',
    expected: 'an address',
    alone: true,
  },
  host: {
    takes: 'texts',
    about: 'the local address that the client connected to',
    expected: 'an address',
    alone: true,
  },
  bytes: {
    takes: 'bytes',
    about: 'bytes in the frame',
    expected: 'hexadecimal bytes, such as 0103',
  },
  text: { takes: 'texts', about: 'words in the text shown', expected: 'a text' },
  since: {
    takes: 'moment',
    about: 'not before this time',
    expected: MOMENT,
  },
  until: {
    takes: 'moment',
    about: 'not after this time',
    expected: MOMENT,
  },
};

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];

export function fieldNamed(word: string): FieldName | undefined {
  const lower = word.toLowerCase();
  return FIELD_NAMES.find((name) => name === lower || FIELDS[name].also === lower);
}

/** What the meaning of filter values depends on. */
export interface FilterContext {
  /** The current time, in ms since 1970; without it, a time can't be given as an age. */
  readonly now?: number;
  /** Says that a field can't have a value, for example because there is no such line; undefined if it can. */
  readonly refuse?: (field: FieldName, text: string) => string | undefined;
}

export type Operator = '=' | '<' | '>' | '<=' | '>=';

/** Parses values, one of which must match. @returns a sentence if one is wrong */
export function valuesOf(
  field: FieldName,
  texts: readonly string[],
  operator: Operator,
  context: FilterContext,
): Result<WantedValues> {
  const { takes, expected } = FIELDS[field];
  const wrong = (text: string) => failure(expectedMessage(expected, text));
  if ((takes === 'numbers' || takes === 'duration') && operator !== '=') {
    const [text = ''] = texts;
    const end = takes === 'numbers' ? (/^\d{1,5}$/.test(text) ? Number(text) : Number.NaN) : microsOf(text);
    return Number.isNaN(end) || texts.length > 1
      ? wrong(texts.join())
      : success({ ranges: [beside(end, operator)] });
  }
  if (operator !== '=') return failure(`expected = after ${field}, got ${operator}`);
  const ranges: NumberRange[] = [];
  const found: string[] = [];
  for (const text of texts) {
    const refused = context.refuse?.(field, text);
    if (refused !== undefined) return failure(refused);
    switch (takes) {
      case 'numbers': {
        const numbers = numbersOf(field, text);
        if (numbers === undefined) return wrong(text);
        ranges.push(...numbers);
        break;
      }
      case 'moment': {
        const at = momentOf(text, context.now);
        if (Number.isNaN(at)) return wrong(text);
        const us = Math.round(1000 * at);
        ranges.push(field === 'since' ? [us, Number.POSITIVE_INFINITY] : [Number.NEGATIVE_INFINITY, us]);
        break;
      }
      case 'choices': {
        const choice = FIELDS[field].choices?.find(
          (each) => each === text || each === text.replaceAll('-', ' '),
        );
        if (choice === undefined) return wrong(text);
        found.push(choice);
        break;
      }
      case 'bytes': {
        const bytes = text.replace(/\s/g, '').toLowerCase();
        if (!/^(?:[0-9a-f]{2})+$/.test(bytes)) return wrong(text);
        found.push(bytes);
        break;
      }
      case 'texts':
        if (text === '') return wrong(text);
        found.push(field === 'text' ? text.toLowerCase() : text);
        break;
      default:
        return wrong(text);
    }
  }
  return success(found.length > 0 ? { texts: found } : { ranges });
}

/** `7`, `10-19`, or part of a name, such as `write` for all functions that write. */
function numbersOf(field: FieldName, text: string): readonly NumberRange[] | undefined {
  const { max = 0, names } = FIELDS[field];
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (first !== undefined) {
    const range = [Number(first), Number(last)] as const;
    return range[0] <= range[1] && range[1] <= max ? [range] : undefined;
  }
  const part = text.toLowerCase().replace(/[-_]/g, ' ').trim();
  const named = [...(names ?? [])]
    .filter(([, name]) => name.toLowerCase().includes(part))
    .map(([code]) => [code, code] as const);
  return part !== '' && named.length > 0 ? named : undefined;
}

/** @returns µs; NaN if the text is not a duration */
function microsOf(text: string): number {
  const ms = DURATION.test(text)
    ? milliseconds(text)
    : /^\d{1,9}(?:\.\d{1,6})?$/.test(text)
      ? Number(text)
      : Number.NaN;
  return Math.round(1000 * ms);
}

/** The integers below or above another. */
function beside(end: number, operator: Exclude<Operator, '='>): NumberRange {
  switch (operator) {
    case '<':
      return [Number.NEGATIVE_INFINITY, end - 1];
    case '<=':
      return [Number.NEGATIVE_INFINITY, end];
    case '>':
      return [end + 1, Number.POSITIVE_INFINITY];
    case '>=':
      return [end, Number.POSITIVE_INFINITY];
  }
}
