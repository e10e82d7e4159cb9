/**
 * Bundles the console of `src/remote/web` for browsers: node scripts/console.mjs FOLDER
 * Writes FOLDER/index.html, FOLDER/assets/, whose files have hashes of their content in their names and stand there
 * compressed, too, and the licences of the packages that are in them.
 */
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
for (const wanted of [/^app-\w+\.js$/, /^app-\w+\.css$/, /^icon-\w+\.svg$/]) {
  const name = names.find((each) => wanted.test(each));
  if (name === undefined) throw new Error(`no output is called ${wanted}`);
  const [stem, extension] = name.split(/-\w+\./);
  page = page.replace(`{${stem}.${extension}}`, `/assets/${name}`);
}
for (const path of Object.keys(metafile.outputs))
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'index.html'), page);
writeFileSync(join(folder, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));
