import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { Values } from './scan.js';

/** Where the REST interface of a simulator is when nothing else is said. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** What is wrong with `--url`, as a sentence; undefined when nothing is. */
export function urlProblem(url: string): string | undefined {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return undefined;
  return `--url: expected the address of REST, such as ${DEFAULT_URL}, got ${quote(url)}`;
}

/** The number that decimal digits say; NaN for any other text, and above `max`. */
export function wholeNumber(text: string, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number <= max ? number : Number.NaN;
}

/** Says that `--free-ports` can't stand beside `--url`. */
export const FREE_PORTS_REMOTE = '--free-ports has no effect with --url: the simulator there has its ports';

/** The options that name a simulator which runs already. */
export const REMOTE_OPTIONS = { url: { type: 'string' }, token: { type: 'string' } } as const;

/** The options that name the files of reports, and what an inconclusive step or check is in JUnit. */
export const REPORT_OPTIONS = {
  junit: { type: 'string' },
  html: { type: 'string' },
  json: { type: 'string' },
  inconclusive: { type: 'string' },
} as const;

/** The reports that are wanted. */
export interface Reports {
  /** Where they are written; absent reports are not. */
  readonly junit?: string;
  readonly html?: string;
  readonly json?: string;
  /** What an inconclusive step or check is in JUnit, and for the exit code of an examination; skipped when absent. */
  readonly inconclusive?: 'skipped' | 'failure';
}

/** @returns what is wrong, as a sentence */
export function reportsOf(values: Values<keyof typeof REPORT_OPTIONS>): Reports | string {
  const { junit, html, json, inconclusive } = values;
  const wanted = (['skipped', 'failure'] as const).find((each) => each === inconclusive);
  if (inconclusive !== undefined && wanted === undefined)
    return `--inconclusive: expected skipped or failure, got ${quote(inconclusive)}`;
  return compact({ junit, html, json, inconclusive: wanted });
}
