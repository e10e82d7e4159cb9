import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory, and those above it that are not there; does nothing where it is there. Throws where the system refuses.
 * With `recursive`, Node never comes back from a file system that makes no directories, as /proc: it takes ENOENT for a missing one above.
 * @param mode of each, less the umask
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) makeOne(each, mode);
}

/** Another program may make it first. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(path)) throw error;
  }
}
