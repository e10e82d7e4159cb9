import { dirname, resolve } from 'node:path';
import { loadNative } from '../config/load.js';
import { formatProblems } from '../schema/problem.js';
import { save } from './save.js';
import { complain, OK, say } from './say.js';

/**
 * Writes a native file that the program has made, after checking it.
 * @param output where it is written; on standard output when undefined
 * @param what what it holds, for people
 * @returns the exit code
 */
export function writeNativeFile(
  text: string,
  { output, force }: { readonly output?: string; readonly force: boolean },
  what = '',
): number {
  const loaded = loadNative(text, output === undefined ? '.' : dirname(resolve(output)));
  if (!loaded.ok) return complain(`nothing was written: ${formatProblems('the file', loaded.problems)}`);
  if (output === undefined) {
    process.stdout.write(text);
    return OK;
  }
  const failure = save(output, text, force);
  if (failure !== undefined) return complain(failure);
  return say(`wrote ${output}${what}; serve it with modbus-sim --config ${output}`);
}
