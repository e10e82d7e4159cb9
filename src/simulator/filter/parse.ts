import { failure, type Result, success } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import { FIELD_NAMES, FIELDS, type FilterContext, fieldNamed, type Operator, valuesOf } from './fields.js';
import type { FieldName, Filter, Test } from './filter.js';

/** A longer text is rejected. This also limits how many tests each frame costs. */
export const MOST_CHARACTERS = 1000;
/** Maximum nesting of parentheses and `not`. */
const MOST_DEPTH = 16;

/** What is wrong with a text, and where. `at` counts characters from 0. */
export interface Mistake {
  readonly at: number;
  /** A sentence with what was expected there. */
  readonly message: string;
}

/** A field in a filter, and its position in the text. */
export interface FilterPart {
  readonly field: FieldName;
  readonly from: number;
  readonly to: number;
  /** Its values as written, without quotes; undefined for a field without a value or with a comparison. */
  readonly values: readonly string[] | undefined;
}

export interface Parsed {
  readonly filter: Filter;
  /** The fields that must all match, without those under `not` or `or`. */
  readonly parts: readonly FilterPart[];
  /** Whether the text has an `or` outside parentheses. */
  readonly isOr: boolean;
}

/**
 * Parses a filter: `unit=1 fc=3 addr 0-9 not rule:x late>50ms`. Adjacent conditions must all be met. `or`
 * binds more loosely than that, and `not` more tightly. The empty text matches every frame.
 */
export function parseFilter(text: string, context: FilterContext = {}): Result<Parsed, Mistake> {
  return new FilterReader(text, context).read();
}

/** A mistake and its place, for people: `expected a field, got "unt" (at character 8 of the filter)`. */
export function mistakeText({ at, message }: Mistake): string {
  return `${message} (at character ${at + 1} of the filter)`;
}

/** The last piece of the text, which may be incomplete. */
export interface Unfinished {
  readonly from: number;
  /** The field that the value belongs to; undefined for a field or a word between fields. */
  readonly field: FieldName | undefined;
}

/** Finds the piece that is being written at the end of a text. */
export function unfinishedIn(text: string): Unfinished {
  const reader = new FilterReader(text, {});
  reader.read();
  return reader.unfinished;
}

const SPACES = /\s*/y;
const WORD = /[A-Za-z]+/y;
const OPERATOR = /\s*(<=|>=|!=|=|:|<|>)\s*/y;
const BARE = /[^\s,()"]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const NAME = /[A-Za-z_][\w.-]*/y;
const NUMBER = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y;
const COMMA = /\s*,\s*/y;

class Wrong extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Reads a text once, from left to right. */
class FilterReader {
  unfinished: Unfinished = { from: 0, field: undefined };
  readonly #text: string;
  readonly #context: FilterContext;
  readonly #parts: FilterPart[] = [];
  #at = 0;
  #depth = 0;
  #isOr = false;

  constructor(text: string, context: FilterContext) {
    this.#text = text;
    this.#context = context;
  }

  read(): Result<Parsed, Mistake> {
    if (this.#text.length > MOST_CHARACTERS)
      return failure({ at: MOST_CHARACTERS, message: `expected at most ${MOST_CHARACTERS} characters` });
    try {
      const filter = this.#some();
      if (this.#at < this.#text.length) this.#wrong('a field, or the end');
      return success({ filter, parts: this.#isOr ? [] : this.#parts, isOr: this.#isOr });
    } catch (error) {
      if (error instanceof Wrong) return failure({ at: error.at, message: error.message });
      throw error;
    }
  }

  #some(): Filter {
    const some = [this.#all()];
    while (this.#takeWord('or')) {
      if (this.#depth === 0) this.#isOr = true;
      some.push(this.#all(true));
    }
    return some.length === 1 ? (some[0] as Filter) : { some };
  }

  #all(isNeeded = this.#depth > 0): Filter {
    const all: Filter[] = [];
    for (;;) {
      this.#take(SPACES);
      if (/^[\s(]?$/.test(this.#text[this.#at - 1] ?? ''))
        this.unfinished = { from: this.#at, field: undefined };
      if (this.#at === this.#text.length || this.#text[this.#at] === ')' || this.#isWord('or')) break;
      if (all.length > 0 && this.#takeWord('and')) this.#take(SPACES);
      all.push(this.#term());
    }
    if (isNeeded && all.length === 0) this.#wrong('a field');
    return all.length === 1 ? (all[0] as Filter) : { all };
  }

  #term(): Filter {
    const from = this.#at;
    if (this.#takeWord('not')) {
      this.#take(SPACES);
      return { not: this.#deeper(() => this.#term()) };
    }
    if (this.#text[from] === '(') {
      this.#at++;
      return this.#deeper(() => {
        const some = this.#some();
        if (this.#text[this.#at] !== ')') this.#wrong('a closing parenthesis');
        this.#at++;
        return some;
      });
    }
    if (this.#text[from] === '"') return { field: 'text', texts: [this.#item('text').toLowerCase()] };
    this.unfinished = { from, field: undefined };
    const word = this.#take(WORD)?.[0] ?? '';
    const field = fieldNamed(word);
    if (field === undefined) {
      this.#at = from;
      this.#wrong(`a field: ${FIELD_NAMES.join(', ')}`);
    }
    const { test, values, isNot } = this.#test(field);
    if (this.#depth === 0 && !isNot) this.#parts.push({ field, from, to: this.#at, values });
    return isNot ? { not: test } : test;
  }

  #test(field: FieldName): { test: Test; values: readonly string[] | undefined; isNot?: boolean } {
    const { takes, alone, expected } = FIELDS[field];
    const written = this.#take(OPERATOR)?.[1];
    if (takes === 'value') return { test: this.#value(written), values: undefined };
    if (written === undefined && alone && this.#isAlone())
      return { test: { field, any: true }, values: undefined };
    if (written === undefined) this.#take(SPACES);
    const start = this.#at;
    const values: string[] = [];
    do values.push(this.#item(field, expected));
    while (this.#take(COMMA));
    const isNot = written === '!=';
    const operator = written === undefined || written === ':' || isNot ? '=' : (written as Operator);
    if (takes === 'duration' && operator === '=') throw new Wrong(start, `expected < or > after ${field}`);
    const wanted = valuesOf(field, values, operator, this.#context);
    if (!wanted.ok) throw new Wrong(start, wanted.error);
    return { test: { field, ...wanted.value }, values: operator === '=' ? values : undefined, isNot };
  }

  /** `voltage>240`, where `value` may be followed by an operator: `value: voltage>240`. */
  #value(written: string | undefined): Test {
    if (written !== undefined && written !== ':' && written !== '=') this.#wrong(FIELDS.value.expected);
    this.#take(SPACES);
    this.unfinished = { from: this.#at, field: 'value' };
    const name = this.#text[this.#at] === '"' ? this.#item('value') : this.#take(NAME)?.[0];
    if (name === undefined) this.#wrong(FIELDS.value.expected);
    const operator = this.#take(OPERATOR)?.[1];
    if (operator === undefined) this.#wrong('<, >, <=, >=, = or != after the name of a value');
    const number = this.#take(NUMBER)?.[0];
    if (number === undefined) this.#wrong('a number');
    type Compared = Extract<Test, { operator: unknown }>['operator'];
    return {
      field: 'value',
      name,
      operator: operator === ':' ? '=' : (operator as Compared),
      number: Number(number),
    };
  }

  #item(field: FieldName, expected = 'a text in quotes'): string {
    this.unfinished = { from: this.#at, field };
    const quoted = this.#take(QUOTED);
    if (quoted) return (quoted[1] as string).replace(/\\(.)/gs, '$1');
    if (this.#text[this.#at] === '"') this.#wrong('a closing quote');
    return this.#take(BARE)?.[0] ?? this.#wrong(expected);
  }

  /** Whether the preceding field has no value: the text ends here, or another field follows. */
  #isAlone(): boolean {
    const start = this.#at;
    this.#take(SPACES);
    const word = this.#take(WORD)?.[0];
    const isNext = word !== undefined && (/^(?:and|or|not)$/i.test(word) || fieldNamed(word) !== undefined);
    const isEnd = word === undefined && /^[()]?$/.test(this.#text[this.#at] ?? '');
    this.#at = start;
    return isNext || isEnd;
  }

  #deeper<Value>(read: () => Value): Value {
    if (++this.#depth > MOST_DEPTH) this.#wrong(`at most ${MOST_DEPTH} levels of parentheses and "not"`);
    const value = read();
    this.#depth--;
    return value;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found ?? undefined;
  }

  #isWord(word: string): boolean {
    const start = this.#at;
    const is = this.#take(WORD)?.[0].toLowerCase() === word;
    this.#at = start;
    return is;
  }

  #takeWord(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#at += word.length;
    return true;
  }

  #wrong(expected: string): never {
    BARE.lastIndex = this.#at;
    const found = BARE.exec(this.#text)?.[0] ?? this.#text[this.#at];
    const got = found === undefined ? 'the end' : quote(found);
    throw new Wrong(this.#at, `expected ${expected}, got ${got}`);
  }
}
