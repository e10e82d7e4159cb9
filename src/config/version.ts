import { readFileSync } from 'node:fs';

/** The version of this program, from its package.json. Reads the file synchronously. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
