/**
 * Bundles the program of `src` for Node: node scripts/bundle.mjs FOLDER
 * Writes FOLDER/main.js (the command), FOLDER/desk-thread.js (its second thread), FOLDER/work-thread.js (threads for long work), FOLDER/library.js, FOLDER/make-at-build.js
 * and the parts that they share. Node takes longer to find and read many small modules than to run them, so the program
 * starts sooner from a few files, and so do the packages of INSIDE, each of which has a hundred modules
 * (docs/decisions/0034-bundled.md).
 */
import { build } from 'esbuild';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/bundle.mjs FOLDER');

/** The packages that every start needs, and that have many modules. All others stay outside, in node_modules. */
const INSIDE = [
  'fastify',
  'fastify-type-provider-zod',
  'pino',
  'yaml',
  'zod',
  'jsep',
  'asn1js',
  '@serialport/parser-inter-byte-timeout',
];

/**
 * What those need and what stays outside all the same: nothing asks for it, because src/remote/api/app.ts has compilers of
 * its own. (The files that pino has for threads are not asked for either.)
 */
const OUTSIDE = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];

/** @param {string} specifier `@fastify/error` of `@fastify/error/lib/x.js` */
const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** @type {import('esbuild').Plugin} */
const packages = {
  name: 'packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point') return undefined;
      const name = packageOf(path);
      const isInside = importer.includes('node_modules') ? !OUTSIDE.includes(name) : INSIDE.includes(name);
      return isInside && !path.startsWith('node:') ? undefined : { path, external: true };
    });
    // Zod's messages in fifty languages, of which it uses English.
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

await build({
  entryPoints: [
    'src/main.ts',
    'src/library.ts',
    'src/cli/verbs/desk-thread.ts',
    'src/cli/verbs/work-thread.ts',
    'src/cli/verbs/make-at-build.ts',
  ],
  outdir: folder,
  // All in one folder, because src/common/package.ts knows from its own place where the others are.
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  plugins: [packages],
  // Packages in CommonJS ask for Node's modules by `require`, which a module has not.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
  },
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
