import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ReportView } from '../testing/report/view.js';

/** A file, if one is wanted, and the form of what is written into it. */
export type ReportFile = readonly [
  file: string | undefined,
  form: (reports: readonly ReportView[]) => string,
];

/**
 * Looks before a run whether its reports will find a place: a run takes minutes, and its findings should not be lost by
 * a slip in a name.
 * @returns which file can't be written, and why; undefined when nothing speaks against any
 */
export function reportsProblem(files: readonly (string | undefined)[]): string | undefined {
  for (const file of files) {
    const reason = file === undefined ? undefined : fileProblem(file);
    if (reason !== undefined) return `${file}: can't be written: ${reason}`;
  }
  return undefined;
}

function fileProblem(file: string): string | undefined {
  const directory = dirname(file);
  if (!existsSync(directory)) return `there is no directory ${directory}`;
  const isThere = existsSync(file);
  if (isThere && statSync(file).isDirectory()) return 'this is a directory';
  try {
    accessSync(isThere ? file : directory, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

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
