import { quote } from '../../schema/problem.js';

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

/** What an inconclusive step or check is in JUnit: skipped unless the user wants a failure. */
export type Inconclusive = 'skipped' | 'failure';

/** What is wrong with `--inconclusive`, as a sentence; undefined when nothing is. */
export function inconclusiveProblem(text: string | undefined): string | undefined {
  if (text === undefined || isInconclusive(text)) return undefined;
  return `--inconclusive: expected skipped or failure, got ${quote(text)}`;
}

export function isInconclusive(text: string | undefined): text is Inconclusive {
  return text === 'skipped' || text === 'failure';
}
