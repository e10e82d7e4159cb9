import { compact } from '../compact.js';
import type { Given } from './scan.js';

/** Write a native file from the logs of clients and servers. */
export interface LearnCommand {
  readonly kind: 'learn';
  readonly files: readonly string[];
  /** Where it is written; standard output when absent. */
  readonly output?: string;
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
}

export const LEARN_OPTIONS = { output: { type: 'string', short: 'o' }, force: { type: 'boolean' } } as const;

/** @returns what is wrong, as a sentence */
export function parseLearn({
  words: files,
  values: { output, force },
}: Given<keyof typeof LEARN_OPTIONS>): LearnCommand | string {
  if (files.length === 0) return 'learn needs one or more files';
  return { kind: 'learn', files, ...compact({ output }), force: force !== undefined };
}
