import { writeFileSync } from 'node:fs';
import type { ReportView } from '../testing/report/view.js';

/** A file, if one is wanted, and the form of what is written into it. */
export type ReportFile = readonly [
  file: string | undefined,
  form: (reports: readonly ReportView[]) => string,
];

/**
 * Writes reports in several forms; none without reports.
 * @returns what could not be written
 */
export function writeReports(
  files: readonly ReportFile[],
  reports: readonly ReportView[],
): string | undefined {
  for (const [file, form] of files) {
    if (file === undefined || reports.length === 0) continue;
    try {
      writeFileSync(file, form(reports));
    } catch (error) {
      return `${file}: can't be written: ${(error as Error).message}`;
    }
  }
  return undefined;
}
