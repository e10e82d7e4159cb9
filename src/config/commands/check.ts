import type { ApiOverrides } from '../api-definition.js';
import { compact } from '../compact.js';
import type { Given } from './scan.js';

/** Print the mistakes of a file. */
export interface CheckCommand {
  readonly kind: 'check';
  readonly file: string;
  readonly api: ApiOverrides;
}

/** @returns what is wrong, as a sentence */
export function parseCheck({ words: [file, ...more], token }: Given<never>): CheckCommand | string {
  if (file === undefined || more.length > 0) return 'check takes one file';
  return { kind: 'check', file, api: compact({ token }) };
}
