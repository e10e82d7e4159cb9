/**
 * Bundles the console of `src/remote/web` for browsers: node scripts/console.mjs FOLDER
 * Writes FOLDER/index.html, FOLDER/report.html (the same with all in one file, where src/testing/report/html.ts puts what it
 * shows), FOLDER/assets/, whose files have hashes of their content in their names and stand there
 * compressed, too, and the licences of the packages that are in them.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/console.mjs FOLDER');

const { metafile } = await build({
  entryPoints: { app: 'src/remote/web/main.ts', icon: 'src/remote/web/icon.svg' },
  outdir: join(folder, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  splitting: true,
  format: 'esm',
  // Browsers of spring 2024 and later: the styles need light-dark().
  target: ['chrome123', 'firefox120', 'safari17.5'],
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

const names = Object.keys(metafile.outputs).map((path) => basename(path));
let page = readFileSync('src/remote/web/index.html', 'utf8');
/** @type {Record<string, string>} */
const texts = {};
for (const wanted of [/^app-\w+\.js$/, /^app-\w+\.css$/, /^icon-\w+\.svg$/]) {
  const name = names.find((each) => wanted.test(each));
  if (name === undefined) throw new Error(`no output is called ${wanted}`);
  const [stem, extension] = name.split(/-\w+\./);
  page = page.replace(`{${stem}.${extension}}`, `/assets/${name}`);
  texts[String(extension)] = readFileSync(join(folder, 'assets', name), 'utf8').trim();
}
for (const path of Object.keys(metafile.outputs))
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const { js = '', css = '' } = texts;
if (/<!--|<\/(script|style)/i.test(js + css)) throw new Error('the console can not be put into a page');
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
