import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundled } from '../test/support/bundled.mjs';

/**
 * Modules of src for this process: dist has a bundle, and none of them by its name. Rejects when one does not compile.
 * @param {string} source exports from `./src/…`
 */
export async function fromSource(source) {
  // Packages are found from the place of the file.
  const file = resolve(`node_modules/.cache/bench/${process.pid}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await bundled(source));
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file);
  }
}
