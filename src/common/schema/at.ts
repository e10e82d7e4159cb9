import { z } from 'zod';
import type { Work } from '../work.js';
import type { Findings } from './findings.js';
import { nearest, synonymOf, unknownName } from './nearest.js';
import { isMapping, KEY_SEPARATOR, sectionOf } from './parts.js';
import { expectedMessage, type Path, quote } from './problem.js';

/** Parses without a stack trace for each value that does not fit: the trace would take as long as the rest. */
const safeParse = z.core._safeParse(z.core.$ZodError);

/**
 * A cursor into an input: a value, its path, and the findings that collect its mistakes. A reader walks
 * through a file or a request with `key`, and reports the mistakes at each path.
 */
export class At {
  /** The value at this path; undefined if the input has no value here. */
  readonly value: unknown;
  readonly findings: Findings;
  readonly #parent: At | undefined;
  readonly #part: string | number | undefined;

  /** Creates the cursor for the whole input. `key` creates the cursors into it. */
  constructor(value: unknown, findings: Findings, parent?: At, part?: string | number) {
    this.value = value;
    this.findings = findings;
    this.#parent = parent;
    this.#part = part;
  }

  get path(): Path {
    return this.#parent && this.#part !== undefined ? [...this.#parent.path, this.#part] : [];
  }

  /** Returns the cursor for a key of a mapping or an index of a list. Mistakes in other keys don't matter. */
  key(part: string | number): At {
    return new At(partOf(this.value, part), this.findings, this, part);
  }

  /** Returns a cursor at the same path that contains another value. */
  with(value: unknown): At {
    return new At(value, this.findings, this.#parent, this.#part);
  }

  /** Returns the cursor at the end of a path that starts here. */
  below(path: Path): At {
    return path.reduce<At>((at, part) => at.key(part), this);
  }

  /**
   * Returns the names and contents of a mapping whose names the user chooses. Reports a mistake and returns
   * undefined if the value is not a mapping or is empty.
   */
  entries(expected: string): [name: string, content: At][] | undefined {
    if (!isMapping(this.value)) return this.expected(expected);
    const names = Object.keys(this.value);
    if (names.length === 0) return this.wrong(`expected ${expected}, got an empty mapping`);
    return names.map((name) => [name, this.key(name)]);
  }

  /** Returns the items of a list. Reports a mistake and returns undefined if the value is not a list. */
  items(expected = 'a list'): At[] | undefined {
    return Array.isArray(this.value) ? this.value.map((_, i) => this.key(i)) : this.expected(expected);
  }

  /** Returns the value as parsed by `schema`. Reports each mistake and returns undefined if the value does not fit. */
  check<Output>(schema: z.ZodType<Output>): Output | undefined {
    const result = safeParse(schema, this.value, { reportInput: true });
    if (result.success) return result.data;
    let before: z.core.$ZodIssue | undefined;
    for (const issue of result.error.issues) {
      // Two checks of one value may give the same message, for example for a number that is too large and not
      // whole.
      if (!before || !isSame(before, issue)) this.#report(issue);
      before = issue;
    }
    return undefined;
  }

  /**
   * Returns those members of a section that fit their own schema. Reports nothing: call this after `check`
   * has reported the mistakes, to look for further mistakes in the contents of the valid members.
   */
  fitting<Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape>): Partial<z.output<typeof schema>> {
    const parts = Object.entries(schema.shape).flatMap(([key, part]) => {
      const result = safeParse(part, this.key(key).value);
      return result.success && result.data !== undefined ? [[key, result.data]] : [];
    });
    return Object.fromEntries(parts);
  }

  /** Returns those members of a section that fit their own schema, and reports the mistakes of the others. */
  parts<Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape>): Partial<z.output<typeof schema>> {
    return this.check(schema) ?? this.fitting(schema);
  }

  /**
   * Reports a mistake here. Returns undefined, so that readers can return the result.
   * @param code the reason, for programs
   */
  wrong(message: string, code?: string): undefined {
    this.findings.add(() => ({ path: this.path, message, ...(code !== undefined && { code }) }));
  }

  /** Reports what was expected here, and what was found instead. */
  expected(what: string): undefined {
    this.findings.add(() => ({ path: this.path, message: expectedMessage(what, this.value) }));
  }

  /** Reports that this value has no effect, or is unwise. The input remains usable. */
  warn(message: string): void {
    this.findings.warn({ path: this.path, message });
  }

  /** Returns the result of `read`; undefined if `read` reported a mistake. */
  unlessWrong<Result>(read: () => Result): Result | undefined {
    const { count } = this.findings;
    const result = read();
    return this.findings.count > count ? undefined : result;
  }

  /**
   * Does the same as `unlessWrong`, for reading that can pause. Nothing else may report to the same findings
   * in the meantime.
   */
  *unlessWrongIn<Result>(reading: Work<Result>): Work<Result | undefined> {
    const { count } = this.findings;
    const result = yield* reading;
    return this.findings.count > count ? undefined : result;
  }

  #report(issue: z.core.$ZodIssue): void {
    const there = this.below(issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)));
    switch (issue.code) {
      case 'unrecognized_keys': {
        const known = issue.message.split(KEY_SEPARATOR);
        for (const key of issue.keys) there.key(key).#wrong(() => unknownName('key', key, known));
        break;
      }
      case 'custom':
        // Our own messages are complete. Those of other schemas contain only the part after "expected".
        there.wrong(issue.message);
        break;
      case 'invalid_value':
        there.#wrong(
          () => `${expectedMessage(issue.message, issue.input)}${meantText(issue)}${quotesText(issue)}`,
        );
        break;
      default:
        there.#wrong(() => `${expectedMessage(issue.message, issue.input)}${quotesText(issue)}`);
    }
  }

  #wrong(message: () => string): void {
    this.findings.add(() => ({ path: this.path, message: message() }));
  }
}

function partOf(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return typeof part === 'number' ? value[part] : undefined;
  return sectionOf(value, String(part));
}

/** A shorter word resembles too many others, so only synonyms are suggested for it. */
const SHORTEST_MEANT = 3;

/** Returns the end of a message, `, did you mean "float32"?`; empty if no known value is similar. */
function meantText({ input, values }: z.core.$ZodIssueInvalidValue): string {
  if (typeof input !== 'string') return '';
  const known = values.filter((each) => typeof each === 'string');
  const meant = (input.length < SHORTEST_MEANT ? synonymOf : nearest)(input, known);
  return meant === undefined ? '' : `, did you mean ${quote(meant)}?`;
}

/** Returns the end of a message about a number, true or false that is text because of its quotes or its comma. */
function quotesText(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (typeof input === 'string' && /^-?\d{1,15},\d{1,15}$/.test(input) && takes(issue, '1'))
    return `: write it with a decimal point, ${input.replace(',', '.')}`;
  const written = typeof input === 'string' && /^(?:\d+|true|false)$/.test(input) ? input : undefined;
  if (written === undefined || !takes(issue, written)) return '';
  return ': write it without quotes';
}

/** Reports whether the schema of an issue would accept the text in the quotes, as far as its type is concerned. */
function takes(issue: z.core.$ZodIssue, written: string): boolean {
  const isFlag = written === 'true' || written === 'false';
  if (issue.code === 'invalid_type')
    return (isFlag ? ['boolean'] : ['number', 'int']).includes(issue.expected);
  if (issue.code === 'invalid_value')
    return issue.values.some((value) => typeof value !== 'string' && String(value) === written);
  return (
    issue.code === 'invalid_union' &&
    issue.errors.some(([first]) => first !== undefined && takes(first, written))
  );
}

function isSame(a: z.core.$ZodIssue, b: z.core.$ZodIssue): boolean {
  return (
    a.message === b.message &&
    a.path.length === b.path.length &&
    a.path.every((part, i) => part === b.path[i])
  );
}
