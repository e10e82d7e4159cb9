import { milliseconds } from '../../schema/milliseconds.js';
import { compact } from '../compact.js';
import type { Option, Values } from './scan.js';

/** An option without a value. */
export const FLAG: Option<true, 'boolean'> = { type: 'boolean', read: () => true };

/** An option with any text. */
export const TEXT: Option<string, 'string'> = { type: 'string', read: (text) => text };

/** An option with a text that means something. @param expected what a message about another text says after "expected" */
export function option<Value>(
  expected: string,
  read: (text: string) => Value | undefined,
): Option<Value, 'string'> {
  return { type: 'string', read, expected };
}

/** An option with one of these words. */
export function wordOf<const Word extends string>(expected: string, words: readonly Word[]): Option<Word> {
  return option(expected, (text) => words.find((word) => word === text));
}

/** An option with a whole number, ends included. @param what names it in messages */
export function numberFrom(what: string, min: number, max: number): Option<number> {
  return option(`${what} from ${min} to ${max}`, (text) => {
    const number = wholeNumber(text);
    return number >= min && number <= max ? number : undefined;
  });
}

/** An option with a time in ms, ends included. */
export function timeFrom(expected: string, min: number, max: number): Option<number> {
  return option(expected, (text) => {
    const ms = milliseconds(text);
    return ms >= min && ms <= max ? ms : undefined;
  });
}

/** The number that decimal digits say; NaN for any other text. */
export function wholeNumber(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

/** Where the REST interface of a simulator is when nothing else is said. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Says that `--free-ports` can't stand beside `--url`. */
export const FREE_PORTS_REMOTE = '--free-ports has no effect with --url: the simulator there has its ports';

/** The options that name a simulator which runs already. */
export const REMOTE_OPTIONS = {
  url: option(`the address of REST, such as ${DEFAULT_URL}`, (text) =>
    /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined,
  ),
  token: TEXT,
};

/** The options that say where a file is written, and whether over one that is there. */
export const OUTPUT_OPTIONS = { output: { ...TEXT, short: 'o' }, force: FLAG };

/** A file that is written. */
export interface Output {
  /** Where; standard output when absent. */
  readonly output?: string;
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
}

/** The options that name the files of reports, and what an inconclusive step or check is in JUnit. */
export const REPORT_OPTIONS = {
  junit: TEXT,
  html: TEXT,
  json: TEXT,
  inconclusive: wordOf('skipped or failure', ['skipped', 'failure']),
};

/** The reports that are wanted. */
export interface Reports {
  /** Where they are written; absent reports are not. */
  readonly junit?: string;
  readonly html?: string;
  readonly json?: string;
  /** What an inconclusive step or check is in JUnit, and for the exit code of an examination; skipped when absent. */
  readonly inconclusive?: 'skipped' | 'failure';
}

/** What a command line says of reports. */
export function reportsOf({ junit, html, json, inconclusive }: Values<typeof REPORT_OPTIONS>): Reports {
  return compact({ junit, html, json, inconclusive });
}
