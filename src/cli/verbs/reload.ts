import { statSync } from 'node:fs';
import { HERE } from '../../common/platform.js';
import { ownDirectory } from '../../modbus/transport/port/open-port.js';
import type { ReloadCommand } from '../command-line/commands/plain.js';
import {
  askForReload,
  laterText,
  type ReloadAnswer,
  socketOfFile,
  socketOfService,
} from '../service/reload-socket.js';
import { complain, FAILED, NOT_DONE, note, OK, say } from './say.js';

/** Makes a running program read its configuration again, and prints what was changed and what was not. */
export async function reload({ place, preview }: ReloadCommand, { isWindows, name } = HERE): Promise<number> {
  if (isWindows)
    return complain(
      `reload is not available on ${name}: start the program with --watch, and it reloads its file when you save it`,
    );
  const found = statSync(place, { throwIfNoEntry: false });
  if (!found) return complain(`${place}: no such file or directory`, NOT_DONE);
  const path = found.isDirectory() ? socketOfService(place) : socketOfFile(place, ownDirectory());
  const answer = await askForReload(path, preview ? 'preview' : 'reload');
  return answer.ok ? showReload(answer.value, preview) : complain(answer.error, NOT_DONE);
}

/**
 * Prints the result of a reload.
 * @returns the exit code: failure if the file has mistakes, a warning if a part could not be changed
 */
export function showReload(
  { mistakes = [], warnings, done, refused, atRestart = [] }: ReloadAnswer,
  preview?: boolean,
): number {
  const later = atRestart.map(laterText);
  for (const warning of [...warnings, ...later]) note(warning);
  for (const mistake of mistakes) complain(mistake);
  for (const what of done) say(`${preview ? 'would change' : 'changed'}: ${what}`);
  for (const what of refused) note(`not changed: ${what}`);
  if ([...mistakes, ...done, ...refused, ...later].length === 0) say('nothing has changed');
  return mistakes.length > 0 ? FAILED : OK;
}
