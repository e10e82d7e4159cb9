import { fstatSync } from 'node:fs';
import { printable } from '../../common/rest-client/printable.js';
import { formatWarnings, type Problem } from '../../common/schema/problem.js';
import type { Finding } from '../../testing/report/report.js';
import { resultText } from '../../testing/report/words.js';
import { standardError, standardOutput } from './standard.js';

export const OK = 0;
export const FAILED = 1;
export const WRONG_USAGE = 2;
/** The exit code for work that was stopped. */
export const STOPPED = 2;
/** The exit code for work that could not be done, for example because a file can't be read. */
export const NOT_DONE = 2;

/** The journal's priorities, numbered as in syslog(3). */
export const PRIORITY = { critical: 2, error: 3, warning: 4, info: 6, debug: 7 } as const;

/** Prints a line on standard output. @returns the exit code for success */
export function say(text: string): number {
  standardOutput().print(`${printable(text)}\n`);
  return OK;
}

/** Prints a value as JSON on standard output. @returns the exit code for success */
export function sayJson(value: unknown): number {
  return say(JSON.stringify(value, null, 2));
}

/** Prints an error on standard error. @returns `code`, the exit code */
export function complain(text: string, code = FAILED): number {
  standardError().print(`${withPriority(text, 'error')}\n`);
  return code;
}

/** Prints a warning on standard error. */
export function note(text: string): void {
  standardError().print(`${withPriority(text, 'warning')}\n`);
}

/** Prints the warnings about a file on standard error. */
export function warn(file: string, warnings: readonly Problem[]): void {
  if (warnings.length > 0) note(formatWarnings(file, warnings));
}

/** Prints a step or check in one line, followed by its findings unless it passed. */
export function printFinding(
  { title, verdict, ...finding }: Pick<Finding, 'title' | 'verdict' | 'summary' | 'missed'>,
  number: number,
): void {
  const message = resultText(finding).replaceAll('\n', '\n    ');
  const about = verdict === 'pass' && message !== '' ? ` (${message})` : '';
  say(`${verdict.padEnd(12)} ${number} ${title}${about}`);
  if (verdict !== 'pass' && message !== '') say(`    ${message}`);
}

/**
 * Whether standard error goes to systemd's journal. systemd puts the device and inode of the stream in
 * `JOURNAL_STREAM` (systemd.exec(5)). They are compared, because a program that a service has started may
 * have a different standard error.
 */
export function isJournal(env: NodeJS.ProcessEnv = process.env): boolean {
  if (!env.JOURNAL_STREAM) return false;
  try {
    const { dev, ino } = fstatSync(process.stderr.fd, { bigint: true });
    return env.JOURNAL_STREAM === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

/** Prefixes each line with its priority, because the journal makes each line a separate entry (sd-daemon(3)). */
function withPriority(text: string, priority: keyof typeof PRIORITY): string {
  const shown = printable(text);
  return isJournal() ? shown.replace(/^/gm, `<${PRIORITY[priority]}>`) : shown;
}
