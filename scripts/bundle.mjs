/**
 * Bundles the program of `src` for Node: node scripts/bundle.mjs FOLDER
 * Writes FOLDER/main.js (the command), FOLDER/desk-thread.js (its second thread), FOLDER/work-thread.js (threads for long work), FOLDER/library.js, FOLDER/make-at-build.js
 * and the parts that they share. Node takes longer to find and read many small modules than to run them, so the program
 * starts sooner from a few files, and so do the packages of INSIDE, each of which has a hundred modules
 * (docs/decisions/0034-bundled.md).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
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

/**
 * What Fastify asks for at each start, but uses only for HTTPS, for HTTP/2, and for plugins that need a version of Fastify.
 * No plugin of ours does, so semver stays outside.
 */
const LATER = ['node:https', 'node:http2', 'semver'];

/** @param {string} specifier `@fastify/error` of `@fastify/error/lib/x.js` */
const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Loads a module of LATER when a member of it is asked for. @type {import('esbuild').Plugin} */
const later = {
  name: 'later',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(${LATER.join('|')})$`) }, ({ path, resolveDir, importer }) =>
      importer.includes('node_modules') ? { path, namespace: 'later', pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /./, namespace: 'later' }, ({ path, pluginData: resolveDir }) => ({
      contents: `module.exports = new Proxy({}, { get: (_, name) => require(${JSON.stringify(path)})[name] });`,
      resolveDir,
    }));
  },
};

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

const ENTRIES = [
  'src/main.ts',
  'src/library.ts',
  'src/cli/verbs/desk-thread.ts',
  'src/cli/verbs/work-thread.ts',
  'src/cli/verbs/make-at-build.ts',
];

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
const OPTIONS = {
  entryPoints: ENTRIES,
  outdir: folder,
  // All in one folder, because src/common/package.ts knows from its own place where the others are.
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  // Packages in CommonJS ask for Node's modules by `require`, which a module has not.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
  },
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
  metafile: true,
};

const { metafile } = await build({ ...OPTIONS, write: false, plugins: [later, packages] });
const built = await build({ ...OPTIONS, plugins: [together(metafile.inputs), later, packages] });

// With one character beyond ASCII, V8 keeps two bytes for each character of a file. They are in comments, texts and regular
// expressions, where an escape means the same.
for (const file of Object.keys(built.metafile.outputs)) {
  const text = readFileSync(file, 'utf8');
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== text) writeFileSync(file, escaped);
}

/**
 * Puts what both threads load at a start into few files. esbuild makes a file for each set of entries (the entry points, and
 * whatever is loaded later) that use the same modules, a hundred small ones otherwise, and Node takes longer to find one than
 * to run it. So each entry that has schemas uses all of those modules, but for the thread that parses and learns.
 * @param {import('esbuild').Metafile['inputs']} inputs
 * @returns {import('esbuild').Plugin}
 */
function together(inputs) {
  /** @param {string} entry */
  const usedBy = (entry) => {
    const used = new Set([entry]);
    for (const file of used)
      for (const { path, kind } of inputs[file]?.imports ?? [])
        if (kind !== 'dynamic-import' && inputs[path]) used.add(path);
    return used;
  };
  const desk = usedBy('src/cli/verbs/desk-thread.ts');
  const both = [...usedBy('src/cli/verbs/serve.ts')].filter(
    (file) => file.startsWith('src/') && desk.has(file),
  );
  const all = both.map((file) => `import ${JSON.stringify(resolve(file))};`).join('\n');
  const dynamic = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path),
  );
  const working = usedBy('src/cli/verbs/work-thread.ts');
  const entries = [...ENTRIES, ...dynamic].filter(
    (entry) => !working.has(entry) && usedBy(entry).has('src/common/schema/parts.ts'),
  );
  const paths = new Set(entries.map((entry) => resolve(entry)));
  return {
    name: 'together',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        paths.has(path) ? { contents: `${readFileSync(path, 'utf8')}\n${all}`, loader: 'ts' } : undefined,
      );
    },
  };
}
