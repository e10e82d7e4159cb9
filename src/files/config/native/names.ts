import type { At } from '../../../common/schema/at.js';
import { hasControls, NO_CONTROLS } from '../../../common/schema/parts.js';

/** Checks the name of a device or a line. The name appears in addresses of REST, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  // In an address, the segments `.` and `..` stand for other segments (RFC 3986, 5.2.4).
  const isUsable = /^.{1,64}$/su.test(name) && name !== '.' && name !== '..';
  if (hasControls(name)) at.wrong(NO_CONTROLS);
  // UTF-8 has no form for it, so neither addresses nor files can contain it (RFC 3629, 3).
  else if (/\p{Cs}/u.test(name))
    at.wrong('half a character (an unpaired surrogate) is not allowed in a name');
  else if (!isUsable) at.wrong(`expected a ${kind} name of 1 to 64 characters, not "." or ".."`);
}
