import type { CheckCommand } from '../config/commands/check.js';
import { checkFile } from '../config/load.js';
import { formatProblems } from '../schema/problem.js';
import { complain, say, warn } from './say.js';

/** Prints every mistake of a file. */
export function check({ file, api }: CheckCommand): number {
  const result = checkFile(file, api);
  warn(file, result.warnings);
  return result.ok ? say(`${file}: no mistakes found`) : complain(formatProblems(file, result.problems));
}
