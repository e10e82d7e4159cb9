import { compact } from '../compact.js';
import type { Given } from './scan.js';

/** Write a native file from a file of others. */
export interface ImportCommand {
  readonly kind: 'import';
  readonly file: string;
  /** Where it is written; standard output when absent. */
  readonly output?: string;
  /** The kind of the file; its content says when absent. */
  readonly from?: string;
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
}

export const IMPORT_OPTIONS = {
  output: { type: 'string', short: 'o' },
  from: { type: 'string' },
  force: { type: 'boolean' },
} as const;

/** @returns what is wrong, as a sentence */
export function parseImport({
  words: [file, ...more],
  values: { output, from, force },
}: Given<keyof typeof IMPORT_OPTIONS>): ImportCommand | string {
  if (file === undefined || more.length > 0) return 'import takes one file';
  return { kind: 'import', file, ...compact({ output, from }), force: force !== undefined };
}
