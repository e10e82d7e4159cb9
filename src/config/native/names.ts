import type { At } from '../../schema/at.js';

/** Device and line names appear in addresses of the REST interface, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  if (/^[^\p{Cc}]{1,64}$/u.test(name) && name !== '.' && name !== '..') return;
  // As a part of an address, `.` and `..` mean another one (RFC 3986, 5.2.4).
  at.wrong(`expected a ${kind} name of 1 to 64 printable characters, not "." or ".."`);
}
