import { compact } from '../compact.js';
import type { Given } from './scan.js';
import { FREE_PORTS_OPTION } from './source.js';
import {
  FREE_PORTS_REMOTE,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  urlProblem,
} from './values.js';

/** Run scenarios. */
export interface TestCommand extends Reports {
  readonly kind: 'test';
  readonly files: readonly string[];
  /** Parameters of the scenarios, as `name=value`. */
  readonly settings: readonly string[];
  /** The lines of each bench are on free ports, whatever its configuration says. */
  readonly freePorts?: boolean;
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
  const { url, token = given.token } = given.values;
  const problem = url === undefined ? undefined : urlProblem(url);
  if (problem !== undefined) return problem;
  const reports = reportsOf(given.values);
  if (typeof reports === 'string') return reports;
  const freePorts = given.values['free-ports'] === undefined ? undefined : true;
  if (freePorts && url !== undefined) return FREE_PORTS_REMOTE;
  return {
    kind: 'test',
    files: given.words,
    settings: given.options.flatMap(([name, value]) => (name === 'set' ? value : [])),
    ...reports,
    ...compact({ freePorts, url, token }),
  };
}
