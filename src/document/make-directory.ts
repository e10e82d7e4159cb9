import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory and all missing parents. Does nothing if it exists. Throws if the system refuses.
 * Node's option `recursive` is not used: on a file system that does not allow new directories, such as /proc,
 * it never returns, because it takes ENOENT for a missing parent.
 * @param mode of each new directory, minus the umask
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) makeOne(each, mode);
}

/** Creates one directory. Another program may create it first. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(path)) throw error;
  }
}
