import { lstatSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where clients find a virtual line by a name that stays: `/tmp/modbus-sim/bench`. A service of systemd has a /tmp of
 * its own, which no client sees; its links are in its runtime directory, `/run/modbus-sim/bench`.
 */
export function defaultLink(line: string): string {
  const directory = process.env.RUNTIME_DIRECTORY ?? join(tmpdir(), 'modbus-sim');
  // A line's name is no path: it must not lead out of the directory.
  return join(directory, line.replaceAll('/', '-'));
}

/**
 * Does `link` lead to a line that is being served? One that a killed program left behind leads nowhere, or to a
 * pseudo-terminal that somebody got later, under a number that was free again.
 */
export function isServed(link: string): boolean {
  try {
    const itself = lstatSync(link);
    return itself.isSymbolicLink() && statSync(link).ctimeMs <= itself.ctimeMs;
  } catch {
    return false;
  }
}
