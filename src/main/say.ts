import { formatWarnings, type Problem } from '../schema/problem.js';

export const OK = 0;
export const FAILED = 1;
export const WRONG_USAGE = 2;

/** Prints a line on standard output. @returns the exit code of success. */
export function say(text: string): number {
  console.log(text);
  return OK;
}

/** Prints an error on standard error. @returns `code`, the exit code. */
export function complain(text: string, code = FAILED): number {
  console.error(text);
  return code;
}

/** Prints the warnings about a file on standard error. */
export function warn(file: string, warnings: readonly Problem[]): void {
  if (warnings.length > 0) console.error(formatWarnings(file, warnings));
}
