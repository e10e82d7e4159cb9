/**
 * Bundles the program of `src` for Node: node scripts/bundle.mjs FOLDER
 * Writes FOLDER/main.js (the command), FOLDER/desk-thread.js (its second thread), FOLDER/work-thread.js (threads for long work),
 * FOLDER/library.js, FOLDER/make-at-build.js and the parts that they share: functions of CommonJS, which FOLDER/parts.js loads with
 * the code that FOLDER/keep-code.js keeps of them. Node takes longer to find and read many small modules than to run them, so the
 * program starts sooner from a few files, and so do the packages of INSIDE, each of which has a hundred modules
 * (docs/decisions/0034-bundled.md).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
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
  'pbf',
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

/** The entries whose compiled code is kept: the two threads of a start. */
const KEPT = ['src/main.ts', 'src/cli/verbs/desk-thread.ts'];

/** @type {import('esbuild').BuildOptions & {metafile: true, outdir: string}} */
const OPTIONS = {
  entryPoints: ENTRIES,
  outdir: folder,
  // All in one folder, because src/common/package.ts knows from its own place where the others are.
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  define: { 'import.meta.url': 'partUrl' },
  logLevel: 'warning',
  metafile: true,
};

// What loads the parts, and what keeps their code, are modules: Node loads them itself.
await build({
  entryPoints: ['src/cli/verbs/parts.ts', 'src/cli/verbs/keep-code.ts'],
  outdir: folder,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
const { metafile } = await build({ ...OPTIONS, write: false, plugins: [later, packages] });
const built = await build({
  ...OPTIONS,
  write: false,
  plugins: [together(metafile.inputs), later, packages],
});

/** @param {string} file of an entry or of a part: the name of the part that is made of it */
const partOf = (file) => basename(file, '.js').replace(/^(?!part-)/, 'part-');

/** The imports of a file as esbuild writes them: the name of the default or of all, other names, and where from. */
const IMPORT = /^import (?:(?:(?:\* as )?([\w$]+)(?:, )?)?(?:\{([^}]*)\})? from )?"([^"\n]+)";$/gm;
const EXPORT = /^export \{([^}]*)\};$/m;

for (const { path, text } of built.outputFiles) {
  const { entryPoint, exports = [] } = built.metafile.outputs[relative('.', path)] ?? {};
  const part = partOf(path);
  const statements = [...text.matchAll(IMPORT)];
  const needed = statements.flatMap(([, , , from = '']) => (from.startsWith('./') ? [partOf(from)] : []));
  // Constants, because a name that is asked of an object at each use costs the lines 10 % of a request. Parts never need each other
  // in a circle: what a part needs is used by every entry that uses the part, and esbuild makes one file of what the same entries use.
  const constants = statements.map(([, all, names, from = '']) => {
    const required = `require("${from.startsWith('./') ? `./${partOf(from)}` : from}")`;
    const bound = [all, names && `{${names.replaceAll(' as ', ': ')}}`].filter(Boolean);
    return bound.length === 0
      ? `${required};`
      : `const ${bound.map((name) => `${name} = ${required}`).join(', ')};`;
  });
  const exported = (EXPORT.exec(text)?.[1] ?? '').replace(/([\w$]+) as ([\w$]+)/g, '$2: $1');
  const code = text
    .replace(/^#!.*/, '')
    .replace(IMPORT, '')
    .replace(EXPORT, '')
    .replace(/\bimport\("(?:\.\/([\w-]+)\.js|[^"]+)"\)/g, (all, file) =>
      file ? `loadLater("${partOf(file)}")` : all.replace('import', 'loadLater'),
    );
  if (/^import [^"]*"|^export \{/m.test(code)) throw new Error(`${path}: an import that is not understood`);
  // What src/cli/verbs/parts.ts calls: it takes the first line as the parts that this one needs.
  const whole = `//${needed.join(' ')}
(function (exports, require, module, partUrl, loadLater) {"use strict";
${constants.join('\n')}
${code}
Object.assign(exports, {${exported}});
})`;
  // With one character beyond ASCII, V8 keeps two bytes for each character of a file. They are in comments, texts and regular
  // expressions, where an escape means the same.
  writeFileSync(
    join(folder, `${part}.js`),
    whole.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  // A part that is loaded later is an entry to esbuild, too.
  if (!ENTRIES.includes(entryPoint ?? '')) continue;
  const names = exports.join(', ');
  writeFileSync(
    join(folder, basename(path)),
    [
      ...(basename(path) === 'main.js' ? ['#!/usr/bin/env node'] : []),
      "import { loadEntry } from './parts.js';",
      `${names && `export const { ${names} } = `}loadEntry('${part}'${KEPT.includes(entryPoint ?? '') ? ', true' : ''});`,
      '',
    ].join('\n'),
  );
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
