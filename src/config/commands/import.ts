import { compact } from '../compact.js';
import { command } from './scan.js';
import { OUTPUT_OPTIONS, type Output, TEXT } from './values.js';

/** Write a native file from a file of others. */
export interface ImportCommand extends Output {
  readonly kind: 'import';
  readonly file: string;
  /** The kind of the file; its content says when absent. */
  readonly from?: string;
}

export const IMPORT = command({
  name: 'import',
  options: { ...OUTPUT_OPTIONS, from: TEXT },
  parse({ words: [file, ...more], values: { output, from, force = false } }): ImportCommand | string {
    if (file === undefined || more.length > 0) return 'import takes one file';
    return { kind: 'import', file, ...compact({ output, from }), force };
  },
});
