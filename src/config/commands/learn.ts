import { compact } from '../compact.js';
import type { Given } from './scan.js';
import { DEFAULT_URL, REMOTE_OPTIONS, urlProblem } from './values.js';

/** Write a native file from the logs of clients and servers. */
export interface LearnCommand {
  readonly kind: 'learn';
  readonly files: readonly string[];
  /** The simulator of whose line the traffic is read; undefined where only files are. */
  readonly from?: { readonly url: string; readonly token?: string; readonly line: string };
  /** Where it is written; standard output when absent. */
  readonly output?: string;
  /** Where a scenario is written that expects the same requests of a client. */
  readonly scenario?: string;
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
}

export const LEARN_OPTIONS = {
  line: { type: 'string' },
  ...REMOTE_OPTIONS,
  output: { type: 'string', short: 'o' },
  scenario: { type: 'string' },
  force: { type: 'boolean' },
} as const;

/** @returns what is wrong, as a sentence */
export function parseLearn({
  words: files,
  values: { output, scenario, force, line, url, token },
  token: tokenInEnvironment,
}: Given<keyof typeof LEARN_OPTIONS>): LearnCommand | string {
  if (files.length === 0 && line === undefined) return 'learn needs one or more files, or --line';
  if (line === undefined && (url ?? token) !== undefined) return '--url and --token are for --line';
  if (scenario !== undefined && output === undefined) return '--scenario needs -o, the bench that it is for';
  const problem = url === undefined ? undefined : urlProblem(url);
  if (problem !== undefined) return problem;
  const from =
    line === undefined
      ? undefined
      : { url: url ?? DEFAULT_URL, line, ...compact({ token: token ?? tokenInEnvironment }) };
  return { kind: 'learn', files, ...compact({ output, scenario, from }), force: force !== undefined };
}
