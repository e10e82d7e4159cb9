/**
 * Bundles the program of `src` for Node: node scripts/bundle.mjs FOLDER
 * Writes FOLDER/main.js (the command), FOLDER/desk-thread.js (its second thread), FOLDER/work-thread.js
 * (threads for long work), FOLDER/library.js, FOLDER/make-at-build.js, their shared parts, and the licences
 * of the bundled packages: all packages except the two with machine code
 * (docs/decisions/0037-plain-bundle.md).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/bundle.mjs FOLDER');

const MACHINE_CODE = ['@serialport/bindings-cpp', 'koffi'];

/**
 * Fastify loads these only for a route without its own compilers, and src/remote/api/app.ts sets compilers
 * for all routes.
 */
const NEVER_ASKED_FOR = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];

/**
 * The program uses only the English ones of zod's messages in fifty languages.
 * @type {import('esbuild').Plugin}
 */
const english = {
  name: 'english',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const { metafile } = await build({
  entryPoints: [
    'src/main.ts',
    'src/library.ts',
    'src/desk-thread.ts',
    'src/work-thread.ts',
    'src/make-at-build.ts',
  ],
  outdir: folder,
  // All in one folder, because src/common/package.ts locates the other files relative to its own.
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  external: [...MACHINE_CODE, ...NEVER_ASKED_FOR],
  plugins: [english],
  // CommonJS packages load Node's modules with `require`.
  banner: { js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);" },
  // V8 keeps the source text that it has loaded. Names are not minified and lines are short, so that a stack
  // trace is readable.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
writeFileSync(join(folder, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));
