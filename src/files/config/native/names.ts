import type { At } from '../../../common/schema/at.js';
import { hasControls, NO_CONTROLS } from '../../../common/schema/parts.js';

/** Device and line names appear in addresses of the REST interface, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  // As a part of an address, `.` and `..` mean another one (RFC 3986, 5.2.4).
  const isUsable = /^.{1,64}$/su.test(name) && name !== '.' && name !== '..';
  if (hasControls(name)) at.wrong(NO_CONTROLS);
  // No address and no file can have it (RFC 3629, 3).
  else if (/\p{Cs}/u.test(name))
    at.wrong('half a character (an unpaired surrogate) is not allowed in a name');
  else if (!isUsable) at.wrong(`expected a ${kind} name of 1 to 64 characters, not "." or ".."`);
}
