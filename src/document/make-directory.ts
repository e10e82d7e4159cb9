import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory and all missing ones above it. Does nothing when it exists. Throws when the system
 * refuses. The option `recursive` of Node is not used: on a file system that makes no directories, such as
 * /proc, it never returns, because it takes ENOENT for a missing directory above.
 * @param mode of each new directory, less the umask
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) makeOne(each, mode);
}

/** Makes one directory. Another program may make it first. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(path)) throw error;
  }
}
