import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageFile } from '../../common/package.js';
import { editorLine } from '../../common/schema/editor-schema.js';
import { formatProblems } from '../../common/schema/problem.js';
import { loadNative } from '../../files/config/load.js';
import { junitReport } from '../../testing/report/junit.js';
import type { ReportView } from '../../testing/report/report.js';
import type { SchemaCommand } from '../command-line/commands/plain.js';
import type { Reports } from '../command-line/commands/values.js';
import { complain, OK, say } from './say.js';
import { standardOutput } from './standard.js';

/** Writes a file; overwrites one only with `force`. @returns why it could not be written, as a sentence */
export function save(path: string, text: string, force: boolean): string | undefined {
  try {
    writeFileSync(path, text, { flag: force ? 'w' : 'wx' });
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EEXIST' ? taken(path) : unwritable(path, message);
  }
}

/** The line that names the schema in this package for editors. */
export function editorLineFor(kind: SchemaCommand['of']): string {
  return editorLine(packageFile(`schema/${kind}.json`).href);
}

/**
 * Checks a native file that the program has made, and writes it.
 * @param output path of the file; standard output when undefined
 * @param tell prints that the file was written, where standard output has something else
 * @param what what the file holds, for people
 * @returns the exit code
 */
export function writeNativeFile(
  text: string,
  {
    output,
    force,
    tell = say,
  }: { readonly output?: string; readonly force: boolean; readonly tell?: (text: string) => unknown },
  what = '',
): number {
  const loaded = loadNative(text, output === undefined ? '.' : dirname(resolve(output)));
  if (!loaded.ok) return complain(`nothing was written: ${formatProblems('the file', loaded.problems)}`);
  const whole = editorLineFor('configuration') + text;
  if (output === undefined) {
    standardOutput().print(whole);
    return OK;
  }
  const failure = save(output, whole, force);
  if (failure !== undefined) return complain(failure);
  tell(`wrote ${output}${what}; serve it with modbus-sim --config ${output}`);
  return OK;
}

/**
 * Checks before a run whether its reports can be written: a run takes minutes, and a slip in a name should
 * not lose its findings.
 * @returns which file can't be written, and why; undefined if no obstacle is found
 */
export function reportsProblem({ junit, html, json }: Reports): string | undefined {
  for (const file of [junit, html, json]) {
    const problem = file === undefined ? undefined : fileProblem(file, true);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why a file can't be written, as far as that is known beforehand. */
export function fileProblem(file: string, force: boolean): string | undefined {
  const directory = dirname(file);
  if (!existsSync(directory)) return unwritable(file, `there is no directory ${directory}`);
  const isThere = existsSync(file);
  if (isThere && statSync(file).isDirectory()) return unwritable(file, 'this is a directory');
  if (isThere && !force) return taken(file);
  try {
    accessSync(isThere ? file : directory, constants.W_OK);
    return undefined;
  } catch (error) {
    return unwritable(file, (error as Error).message);
  }
}

function taken(file: string): string {
  return `${file}: exists; --force overwrites it`;
}

function unwritable(file: string, reason: string): string {
  return `${file}: can't be written: ${reason}`;
}

type Form = (reports: readonly ReportView[]) => string;

/**
 * Writes the reports that are wanted. Writes none if there is nothing to report.
 * @param forms how the page and the JSON are made
 * @returns what could not be written
 */
export function writeReports(
  { junit, html, json, inconclusive }: Reports,
  reports: readonly ReportView[],
  forms: { readonly html: Form; readonly json: Form },
): string | undefined {
  const asJunit: Form = (all) => junitReport(all, inconclusive);
  for (const [file, form] of [
    [junit, asJunit],
    [html, forms.html],
    [json, forms.json],
  ] as const) {
    const failure = file === undefined || reports.length === 0 ? undefined : save(file, form(reports), true);
    if (failure !== undefined) return failure;
  }
  return undefined;
}
