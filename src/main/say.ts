import { formatWarnings, type Problem } from '../schema/problem.js';

export const OK = 0;
export const FAILED = 1;
export const WRONG_USAGE = 2;

/** Prints a line for people. @returns the exit code of success. */
export function say(text: string): number {
  console.log(text);
  return OK;
}

/** Prints on standard error what went wrong. @returns `code`, the exit code. */
export function complain(text: string, code = FAILED): number {
  console.error(text);
  return code;
}

/** Says on standard error what in a file has no effect. */
export function warn(file: string, warnings: readonly Problem[]): void {
  if (warnings.length > 0) console.error(formatWarnings(file, warnings));
}
