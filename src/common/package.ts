import { readFileSync } from 'node:fs';

/*
 * Where the files of this package are. Its code is in src, or bundled in dist, and this module is directly in either, so
 * no other module needs to know its own place.
 */

/** The address of a file or folder of the package, by its path from the folder of package.json. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The address of a file or folder that the build copies or makes, by its path from src or dist. */
export function fileBesideCode(path: string): URL {
  return new URL(path, import.meta.url);
}

/** The version of this program, from its package.json. Reads the file synchronously. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}
