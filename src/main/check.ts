import type { Command } from '../config/command-line.js';
import { checkFile } from '../config/load.js';
import { formatProblems } from '../schema/problem.js';
import { complain, say, warn } from './say.js';

/** Prints every mistake of a file. */
export function check({ file, api }: Extract<Command, { kind: 'check' }>): number {
  const result = checkFile(file, api);
  warn(file, result.warnings);
  return result.ok ? say(`${file}: no mistakes found`) : complain(formatProblems(file, result.problems));
}
