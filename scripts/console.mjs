/**
 * Bundles the console of `src/remote/web` for browsers: node scripts/console.mjs FOLDER
 * Writes FOLDER/index.html; FOLDER/report.html (the console in a single file, into which
 * src/testing/report/html.ts puts its data); FOLDER/assets/ with a script for each view, with content hashes
 * in the file names and compressed copies; and the licences of the bundled packages.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/console.mjs FOLDER');

const SCRIPT = 'src/remote/web/main.ts';

/** @satisfies {import('esbuild').BuildOptions} */
const OPTIONS = {
  outdir: join(folder, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  // Browsers of spring 2024 and later, because the styles need light-dark().
  target: ['chrome123', 'firefox120', 'safari17.5'],
  legalComments: 'none',
  logLevel: 'warning',
};

// All in one script and one style, for reports. The served page has the same style: it is small, and rules
// that arrive late would move what is already shown.
const whole = await build({ ...OPTIONS, entryPoints: { app: SCRIPT }, write: false });
const [script, style] = ['.js', '.css'].map((end) =>
  whole.outputFiles.find(({ path }) => path.endsWith(end)),
);
if (!script || !style) throw new Error('the build made no script or no style sheet for the console');
const [js, css] = [script.text.trim(), style.text.trim()];

const isLate = /[\\/](?:views[\\/](\w+)[\\/]\1|recorded-answers)\.ts$/;

/**
 * Puts everything that the start page needs into one script; esbuild would make one for each set of views
 * that share a module. The start page loads every view, and the code that answers in a file, so these may
 * import all of it.
 * @type {import('esbuild').Plugin}
 */
const shared = {
  name: 'shared',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) =>
      isLate.test(path)
        ? {
            contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(resolve(SCRIPT))};`,
            loader: 'ts',
          }
        : undefined,
    );
  },
};

// A script for each view, and the scripts that they share.
const { metafile } = await build({
  ...OPTIONS,
  entryPoints: { app: SCRIPT, icon: 'src/remote/web/icon.svg' },
  splitting: true,
  loader: { '.svg': 'copy', '.css': 'empty' },
  plugins: [shared],
  metafile: true,
});
writeFileSync(style.path, style.contents);

const paths = [...Object.keys(metafile.outputs), style.path];
/** @param {RegExp} wanted */
const named = (wanted) => {
  const path = paths.find((each) => wanted.test(basename(each)));
  if (path === undefined) throw new Error(`the build made no file named ${wanted}`);
  return path;
};
/** @param {string} path */
const address = (path) => `/assets/${basename(path)}`;
const app = named(/^app-\w+\.js$/);
// Everything that the program needs at startup is requested together with it, not after it.
const needed = new Set([app]);
for (const path of needed)
  for (const { kind, path: next } of metafile.outputs[path]?.imports ?? [])
    if (kind === 'import-statement') needed.add(next);
needed.delete(app);
const preloads = [...needed].map((path) => `<link rel="modulepreload" href="${address(path)}">`);
const page = readFileSync('src/remote/web/index.html', 'utf8')
  .replace('{icon.svg}', address(named(/^icon-\w+\.svg$/)))
  .replace('{app.css}', address(style.path))
  .replace('{app.js}', address(app))
  .replace('{preloads}', preloads.join('\n    '));
for (const path of paths) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
if (/<!--|<\/(script|style)/i.test(js + css))
  throw new Error("the script or style sheet can't be inlined: it contains a tag that ends it or a comment");
const policy = `default-src 'none'; script-src ${hashOf(js)}; style-src ${hashOf(css)}; base-uri 'none'; form-action 'none'`;
const report = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title><!--title--></title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${css}</style></head><body><pre><!--words--></pre>
<script type="application/json" id="recorded"><!--data--></script>
<script type="module">${js}</script></body></html>
`;
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'report.html'), report);
writeFileSync(join(folder, 'index.html'), page);
writeFileSync(join(folder, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));
