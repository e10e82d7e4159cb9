import type { Finding } from '../../testing/report/report.js';
import { say } from './say.js';

/** Prints a step or a check in one line, and below it what was found if it has not passed. */
export function printFinding(
  { title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>,
  number: number,
): void {
  const message = summary.replaceAll('\n', '\n    ');
  const about = verdict === 'pass' && summary !== '' ? ` (${message})` : '';
  say(`${verdict.padEnd(12)} ${number} ${title}${about}`);
  if (verdict !== 'pass' && summary !== '') say(`    ${message}`);
}
