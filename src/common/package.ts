import { readFileSync } from 'node:fs';

/*
 * Finds the files of this package. Its code is in src, where this module is one folder further down, or
 * bundled in dist, where it is directly in that folder. No other module needs to know its own place.
 */

const CODE = new URL(import.meta.url.endsWith('.ts') ? '..' : '.', import.meta.url);

/** Returns the address of a file or folder of the package. @param path from the folder of package.json */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, CODE);
}

/** Returns the address of a file or folder that the build copies or makes. @param path from src or dist */
export function fileBesideCode(path: string): URL {
  return new URL(path, CODE);
}

/** The version of this program, from its package.json. Reads the file synchronously. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}
