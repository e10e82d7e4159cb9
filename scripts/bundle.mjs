/**
 * Bundles the program of `src` for Node: node scripts/bundle.mjs FOLDER
 * Writes FOLDER/main.js (the command), FOLDER/desk-thread.js (its second thread), FOLDER/library.js, FOLDER/make-at-build.js
 * and the parts that they share. Packages stay outside, in node_modules. From a few files the program starts in two thirds
 * of the time that it takes from 650 (docs/decisions/0034-bundled.md).
 */
import { build } from 'esbuild';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/bundle.mjs FOLDER');

await build({
  entryPoints: ['src/main.ts', 'src/library.ts', 'src/main/desk-thread.ts', 'src/main/make-at-build.ts'],
  outdir: folder,
  // All in one folder, because src/package.ts knows from its own place where the others are.
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
