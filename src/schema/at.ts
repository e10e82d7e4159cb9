import type { z } from 'zod';
import type { Findings } from './findings.js';
import { unknownName } from './nearest.js';
import { isMapping, KEY_SEPARATOR, sectionOf } from './parts.js';
import { expectedMessage, type Path } from './problem.js';

/**
 * A cursor into an input: a value, where it stands, and where its mistakes are collected. Reading a file or a request
 * is walking it with `key`, and telling at each place what is wrong there.
 */
export class At {
  /** Undefined when there is nothing at this place. */
  readonly value: unknown;
  readonly findings: Findings;
  readonly #parent: At | undefined;
  readonly #part: string | number | undefined;

  /** The input as a whole; `key` makes the cursors into it. */
  constructor(value: unknown, findings: Findings, parent?: At, part?: string | number) {
    this.value = value;
    this.findings = findings;
    this.#parent = parent;
    this.#part = part;
  }

  get path(): Path {
    return this.#parent && this.#part !== undefined ? [...this.#parent.path, this.#part] : [];
  }

  /** What stands under a key of a mapping or an index of a list, whether or not what is beside it is right. */
  key(part: string | number): At {
    return new At(partOf(this.value, part), this.findings, this, part);
  }

  /** The same place with another value in it: what a reader is to take for the one that is there. */
  with(value: unknown): At {
    return new At(value, this.findings, this.#parent, this.#part);
  }

  /** What stands at the end of a path from here. */
  below(path: Path): At {
    return path.reduce<At>((at, part) => at.key(part), this);
  }

  /** Names and contents of a mapping whose names are the user's choice; undefined, and a mistake, when it has none. */
  entries(expected: string): [name: string, content: At][] | undefined {
    if (!isMapping(this.value)) return this.expected(expected);
    const names = Object.keys(this.value);
    if (names.length === 0) return this.wrong(`expected ${expected}, got an empty mapping`);
    return names.map((name) => [name, this.key(name)]);
  }

  /** The items of a list; undefined, and a mistake, when it is none. */
  items(expected = 'a list'): At[] | undefined {
    return Array.isArray(this.value) ? this.value.map((_, i) => this.key(i)) : this.expected(expected);
  }

  /** The value as `schema` says; undefined, and a mistake for each reason why not. */
  check<Output>(schema: z.ZodType<Output>): Output | undefined {
    const result = schema.safeParse(this.value, { reportInput: true });
    if (result.success) return result.data;
    let before: z.core.$ZodIssue | undefined;
    for (const issue of result.error.issues) {
      // Two checks of one value may fail alike: too large, and no whole number either.
      if (!before || !isSame(before, issue)) this.#tell(issue);
      before = issue;
    }
    return undefined;
  }

  /** Tells that something is wrong here. Returns undefined, what readers return then. */
  wrong(message: string): undefined {
    this.findings.add(() => ({ path: this.path, message }));
  }

  /** Tells what was expected here, and what stands here instead. */
  expected(what: string): undefined {
    this.findings.add(() => ({ path: this.path, message: expectedMessage(what, this.value) }));
  }

  /** Tells that this has no effect; the input can be used all the same. */
  warn(message: string): void {
    this.findings.warnings.push({ path: this.path, message });
  }

  /** What `read` makes of the input; undefined when it tells a mistake, however it goes on then. */
  unlessWrong<Result>(read: () => Result): Result | undefined {
    const { count } = this.findings;
    const result = read();
    return this.findings.count > count ? undefined : result;
  }

  #tell(issue: z.core.$ZodIssue): void {
    const place = this.below(issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)));
    switch (issue.code) {
      case 'unrecognized_keys': {
        const known = issue.message.split(KEY_SEPARATOR);
        for (const key of issue.keys) place.key(key).#wrong(() => unknownName('key', key, known));
        break;
      }
      case 'custom':
        // A message of our own is whole; those of schemas are the part after "expected".
        place.wrong(issue.message);
        break;
      default:
        place.#wrong(() => expectedMessage(issue.message, issue.input));
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

function isSame(a: z.core.$ZodIssue, b: z.core.$ZodIssue): boolean {
  return (
    a.message === b.message &&
    a.path.length === b.path.length &&
    a.path.every((part, i) => part === b.path[i])
  );
}
