import type { ReloadCommand } from '../command-line/commands/plain.js';
import { askForReload } from '../service/reload-socket.js';
import { complain, FAILED, note, OK, say } from './say.js';

/** Has a running service read its configuration again, and prints what was changed and what was not. */
export async function reload({ directory }: ReloadCommand): Promise<number> {
  const answer = await askForReload(directory);
  if (!answer.ok) return complain(answer.error);
  const { warnings, done, refused } = answer.value;
  for (const warning of warnings) note(warning);
  for (const what of done) say(`changed: ${what}`);
  for (const what of refused) complain(`not changed: ${what}`);
  if (done.length + refused.length === 0) say('nothing is different from before');
  return refused.length > 0 ? FAILED : OK;
}
