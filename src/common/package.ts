import { readFileSync } from 'node:fs';

/*
 * Finds the files of this package. Its code is in src, with this module in a subdirectory, or bundled in
 * dist, with this module directly in it. No other module needs to know its own location.
 */

const CODE = new URL(import.meta.url.endsWith('.ts') ? '..' : '.', import.meta.url);

/** Returns the URL of a file or directory of the package. @param path relative to the directory of package.json */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, CODE);
}

/** Returns the URL of a file or directory that the build copies or creates. @param path relative to src or dist */
export function fileBesideCode(path: string): URL {
  return new URL(path, CODE);
}

/** Returns the version of this program from its package.json, which is read synchronously. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}
