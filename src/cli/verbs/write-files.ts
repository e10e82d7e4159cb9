import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageFile } from '../../common/package.js';
import { type Replaceable, whyNotReplaced } from '../../common/replace.js';
import { editorLine } from '../../common/schema/editor-schema.js';
import { formatProblems } from '../../common/schema/problem.js';
import { loadNative } from '../../document/load.js';
import type { SchemaCommand } from '../command-line/commands/plain.js';
import type { Output } from '../command-line/commands/values.js';
import { complain, OK, say } from './say.js';
import { standardOutput } from './standard.js';

/**
 * Writes a file.
 * @param over whether to overwrite any file, or which earlier file of this program to overwrite
 * @returns a sentence if it could not be written
 */
export function save(path: string, text: string, over: boolean | Replaceable): string | undefined {
  try {
    const kept = typeof over === 'string' ? whyNotReplaced(path, over) : undefined;
    if (kept === undefined) writeFileSync(path, text, { flag: over ? 'w' : 'wx' });
    return kept;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EEXIST' ? taken(path) : unwritable(path, message);
  }
}

/** The line that points editors to the schema in this package. */
export function editorLineFor(kind: SchemaCommand['of']): string {
  return editorLine(packageFile(`schema/${kind}.json`).href);
}

/**
 * Checks a native file that the program has made, and writes it.
 * @param output path of the file; standard output when undefined
 * @param tell reports that the file was written, for when standard output is used for something else
 * @param what what the file contains, for people
 * @returns the exit code
 */
export function writeNativeFile(
  text: string,
  { output, force = false, tell = say }: Output & { readonly tell?: (text: string) => unknown },
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

/** The first problem among the files that the user asks for. */
export function firstProblem(
  ...files: readonly (readonly [file: string | undefined, kind: Replaceable])[]
): string | undefined {
  for (const [file, kind] of files) {
    const problem = file === undefined ? undefined : fileProblem(file, kind);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why a file can't be written, as far as can be known in advance. @param over as in `save` */
export function fileProblem(file: string, over: boolean | Replaceable): string | undefined {
  const directory = dirname(file);
  if (!existsSync(directory)) return unwritable(file, `directory ${directory} does not exist`);
  const isThere = existsSync(file);
  if (isThere && statSync(file).isDirectory()) return unwritable(file, 'this is a directory');
  if (isThere && !over) return taken(file);
  try {
    accessSync(isThere ? file : directory, constants.W_OK);
    return typeof over === 'string' ? whyNotReplaced(file, over) : undefined;
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
