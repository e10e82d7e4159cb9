import { HERE } from '../../common/platform.js';
import type { ReloadCommand } from '../command-line/commands/plain.js';
import { askForReload, laterText } from '../service/reload-socket.js';
import { complain, FAILED, note, OK, say } from './say.js';

/** Has a running service read its configuration again, and prints what was changed and what was not. */
export async function reload({ directory }: ReloadCommand, { isLinux, name } = HERE): Promise<number> {
  if (!isLinux)
    return complain(
      `only a service of systemd reads its file again, and this is ${name}: change lines and devices by REST or in the console, or start the program again`,
    );
  const answer = await askForReload(directory);
  if (!answer.ok) return complain(answer.error);
  const { warnings, done, refused, atRestart = [] } = answer.value;
  for (const warning of [...warnings, ...atRestart.map(laterText)]) note(warning);
  for (const what of done) say(`changed: ${what}`);
  for (const what of refused) complain(`not changed: ${what}`);
  if (done.length + refused.length + atRestart.length === 0) say('nothing is different from before');
  return refused.length > 0 ? FAILED : OK;
}
