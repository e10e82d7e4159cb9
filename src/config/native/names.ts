import type { At } from '../../schema/at.js';

/** Device and line names appear in addresses of the REST interface, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  if (/^[^\p{Cc}]{1,64}$/u.test(name)) return;
  at.wrong(`expected a ${kind} name of 1 to 64 printable characters`);
}
