import { compact } from '../../../common/compact.js';
import { milliseconds } from '../../../common/schema/milliseconds.js';
import type { Option, Values } from './scan.js';

/** An option without a value. @param help what it does */
export function flag(help: string): Option<true, 'boolean'> {
  return { type: 'boolean', read: () => true, help };
}

/** An option with any text. @param value what stands for the text in the help, such as `FILE` */
export function text(value: string, help?: string): Option<string, 'string'> {
  return { type: 'string', read: (written) => written, value, ...compact({ help }) };
}

/** An option with a text that means something. @param expected what a message about another text says after "expected" */
export function option<Value>(
  value: string,
  help: string,
  expected: string,
  read: (text: string) => Value | undefined,
): Option<Value, 'string'> {
  return { type: 'string', read, expected, value, help };
}

/** An option with one of these words, which the help lists. */
export function wordOf<const Word extends string>(help: string, words: readonly Word[]): Option<Word> {
  const expected = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return option(words.join('|'), help, expected, (written) => words.find((word) => word === written));
}

/** An option with a whole number, ends included. @param what names it in messages */
export function numberFrom(
  value: string,
  help: string,
  what: string,
  [min, max]: readonly [number, number],
): Option<number> {
  return option(value, help, `${what} from ${min} to ${max}`, (written) => {
    const number = wholeNumber(written);
    return number >= min && number <= max ? number : undefined;
  });
}

/** An option with a time in ms, ends included. */
export function timeFrom(
  help: string,
  expected: string,
  [min, max]: readonly [number, number],
): Option<number> {
  return option('TIME', help, expected, (written) => {
    const ms = milliseconds(written);
    return ms >= min && ms <= max ? ms : undefined;
  });
}

/** The number that decimal digits say; NaN for any other text. */
export function wholeNumber(written: string): number {
  return /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
}

/** Where the REST interface of a simulator is when nothing else is said. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Says that `--free-ports` can't stand beside `--url`. */
export const FREE_PORTS_REMOTE = '--free-ports has no effect with --url: the simulator there has its ports';

/** The options that name a simulator which runs already. */
export const REMOTE_OPTIONS = {
  url: option(
    'URL',
    'the REST interface of a simulator that runs already',
    `the address of REST, such as ${DEFAULT_URL}`,
    (written) => (/^https?:\/\//.test(written) && URL.canParse(written) ? written : undefined),
  ),
  token: text('TOKEN', 'its token; MODBUS_SIM_TOKEN in the environment keeps it from the list of processes'),
};

/** The options that say where a file is written, and whether over one that is there. */
export const OUTPUT_OPTIONS = {
  output: { ...text('FILE', 'where the file is written (default: standard output)'), short: 'o' },
  force: flag('overwrite that file'),
};

/** A file that is written. */
export interface Output {
  /** Where; standard output when absent. */
  readonly output?: string;
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
}

/** The options that name the files of reports, and what an inconclusive step or check is in JUnit. */
export const REPORT_OPTIONS = {
  junit: text('FILE', 'write a report for a CI'),
  html: text('FILE', 'write a report for people'),
  json: text('FILE', 'write a report for programs'),
  inconclusive: wordOf('what JUnit counts an inconclusive step or check as (default: skipped)', [
    'skipped',
    'failure',
  ]),
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
