import { compact } from '../compact.js';
import type { Given } from './scan.js';
import { FREE_PORTS_OPTION } from './source.js';
import {
  FREE_PORTS_REMOTE,
  type Inconclusive,
  inconclusiveProblem,
  isInconclusive,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  urlProblem,
} from './values.js';

/** Run scenarios. */
export interface TestCommand {
  readonly kind: 'test';
  readonly files: readonly string[];
  /** Parameters of the scenarios, as `name=value`. */
  readonly settings: readonly string[];
  /** The lines of each bench are on free ports, whatever its configuration says. */
  readonly freePorts?: boolean;
  /** Where reports are written; absent reports are not. */
  readonly junit?: string;
  readonly html?: string;
  readonly json?: string;
  /** What an inconclusive step is in JUnit; skipped when absent. */
  readonly inconclusive?: Inconclusive;
  /** REST of a simulator that runs already; without it, each scenario has a bench of its own. */
  readonly url?: string;
  readonly token?: string;
}

export const TEST_OPTIONS = {
  set: { type: 'string' },
  ...FREE_PORTS_OPTION,
  ...REPORT_OPTIONS,
  ...REMOTE_OPTIONS,
} as const;

/** @returns what is wrong, as a sentence */
export function parseTest(given: Given<keyof typeof TEST_OPTIONS>): TestCommand | string {
  if (given.words.length === 0) return 'test takes the files of scenarios';
  const { junit, html, json, inconclusive, url, token = given.token } = given.values;
  const problem = (url === undefined ? undefined : urlProblem(url)) ?? inconclusiveProblem(inconclusive);
  if (problem !== undefined) return problem;
  const freePorts = given.values['free-ports'] === undefined ? undefined : true;
  if (freePorts && url !== undefined) return FREE_PORTS_REMOTE;
  return {
    kind: 'test',
    files: given.words,
    settings: given.options.flatMap(([name, value]) => (name === 'set' ? value : [])),
    ...compact({ freePorts, junit, html, json, url, token }),
    ...(isInconclusive(inconclusive) && { inconclusive }),
  };
}
