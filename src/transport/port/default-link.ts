import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A service of systemd has a /tmp of its own, which no client sees; its links are in its runtime directory. */
function directory(): string {
  return process.env.RUNTIME_DIRECTORY ?? join(tmpdir(), 'modbus-sim');
}

/** Where clients find a virtual line by a name that stays: `/tmp/modbus-sim/bench`, or `/run/modbus-sim/bench`. */
export function defaultLink(line: string): string {
  // A line's name is no path: it must not lead out of the directory.
  return join(directory(), line.replaceAll('/', '-'));
}

/**
 * Makes the directory of the default links. A symbolic link in its place is not followed: anybody may put one into
 * /tmp.
 * @returns what is wrong, as a sentence.
 */
export function makeDefaultDirectory(): string | undefined {
  const path = directory();
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) mkdirSync(path, { mode: 0o755 });
    return lstatSync(path).isDirectory()
      ? undefined
      : `${path}: is not a directory, so virtual lines have no links there`;
  } catch (error) {
    return `${path}: can't be made: ${(error as Error).message}`;
  }
}
