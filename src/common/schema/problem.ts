/** A place in a file: keys of mappings, indices of lists. */
export type Path = readonly (string | number)[];

/** A mistake at a path. Its line and column are not known yet. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
  /** A code for programs; absent for most mistakes. */
  readonly code?: string;
}

/**
 * A mistake in the form shown to the user. Line and column count from 1, and are absent if no place in a file
 * is to blame.
 */
export interface Problem {
  /**
   * The path as text, such as `lines.bench.serial.parity` or `device_list.meter.uint16[3].addr`; empty for
   * the whole file.
   */
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

const PLAIN_NAME = /^[\w*-]+$/;

/** Formats a path as text. Names that could be misread are put in brackets and quotes: `setup["co size"]`. */
export function pathText(path: Path): string {
  return path
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!PLAIN_NAME.test(part)) return `[${quote(part)}]`;
      return i === 0 ? part : `.${part}`;
    })
    .join('');
}

const LONGEST_TEXT = 60;

/** Puts text in quotes, shortened, and without characters that control a terminal. */
export function quote(text: string): string {
  const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
  return JSON.stringify(short).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Describes a value in a few words: `"mark"`, `70000`, `a list`. */
export function describeFound(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'a mapping' : String(value);
}

/** Returns `expected X, got Y`, or a message that the value is missing. */
export function expectedMessage(expected: string, found: unknown): string {
  return found === undefined
    ? `missing, expected ${expected}`
    : `expected ${expected}, got ${describeFound(found)}`;
}

/** Formats the mistakes in a file for a terminal, one per line: `FILE:LINE:COLUMN: PATH: MESSAGE`. */
export function formatProblems(file: string, problems: readonly Problem[]): string {
  return formatLines(file, problems, '');
}

/** Formats the warnings about a file for a terminal, one per line: `FILE:LINE:COLUMN: warning: PATH: MESSAGE`. */
export function formatWarnings(file: string, warnings: readonly Problem[]): string {
  return formatLines(file, warnings, 'warning: ');
}

function formatLines(file: string, problems: readonly Problem[], kind: string): string {
  return problems
    .map(({ path, message, line, column = 1 }) => {
      const location = line === undefined ? file : `${file}:${line}:${column}`;
      return `${location}: ${kind}${path === '' ? '' : `${path}: `}${message}`;
    })
    .join('\n');
}
