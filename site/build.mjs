/**
 * Makes the site: node site/build.mjs [--base /modbus-sim/]
 * Writes dist.site/: the pages of docs/ with a search, and play/, which plays devices and faults in the browser. Nothing in it
 * asks anything of another host. VitePress is installed in site/docs/ when it is not there.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './play/build.mjs';

const ROOT = new URL('../', import.meta.url);
const PAGES = new URL('docs/pages/', import.meta.url);
const SITE = new URL('dist.site/', ROOT);

/** What is copied for the pages: those of docs/, and the files that these link to. */
const PAGES_OF = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'python/README.md'];
const FILES_OF = ['examples', 'catalogue'];

const strips = await drawStrips();
stagePages();
vitepress();
await makePlay();

/** Draws the strips of all examples, with the code of the page to play on. */
async function drawStrips() {
  const outfile = fileURLToPath(new URL('docs/node_modules/.cache/strips.mjs', import.meta.url));
  await bundle(['static.ts'], { outfile });
  return (await import(outfile)).strips();
}

function stagePages() {
  rmSync(PAGES, { recursive: true, force: true });
  for (const path of PAGES_OF) cpSync(new URL(path, ROOT), new URL(path, PAGES), { recursive: true });
  for (const path of FILES_OF)
    cpSync(new URL(path, ROOT), new URL(`public/${path}`, PAGES), { recursive: true });
  // The strips have the styles that they have in the console, and nothing else of the page has.
  const styles = ['base.css', 'strip/strip.css'].map((name) =>
    readFileSync(new URL(`src/remote/web/${name}`, ROOT), 'utf8'),
  );
  const scoped = styles.join('').replaceAll(':root', ':scope');
  writeFileSync(
    new URL('strips.css', PAGES),
    `@scope (.example-strip) {\n${scoped}}\n.example-strip { max-width: 100%; overflow-x: auto; }\n`,
  );
  const decisions = readdirSync(new URL('docs/decisions/', ROOT));
  writeFileSync(new URL('docs/decisions/index.md', PAGES), listOf(decisions));
  edit('docs/catalogue.md', (text) =>
    text.replace(/^## ([\w-]+)$/gm, (heading, id) => {
      const address = `entry=${id}`;
      const strip = strips[address];
      if (strip === undefined) return heading;
      const drawing = strip === '' ? '' : `<div class="example-strip">${strip}</div>\n\n`;
      return `${heading}\n\n${drawing}${playLink(address)}`;
    }),
  );
  edit('docs/faults.md', (text) =>
    text.replace(/^\| `(\w+):.*(?= \|$)/gm, (row, kind) =>
      `fault=${kind}` in strips ? `${row}. ${playLink(`fault=${kind}`)}` : row,
    ),
  );
}

function edit(page, change) {
  const path = new URL(page, PAGES);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

/** @param address of an example */
function playLink(address) {
  return `<a href="../play/#${address}" target="_self">Play it</a>`;
}

function listOf(decisions) {
  const lines = decisions.map((name) => {
    const [heading = name] = readFileSync(new URL(`docs/decisions/${name}`, ROOT), 'utf8').split('\n', 1);
    return `- [${heading.replace(/^#\s*/, '')}](${name})`;
  });
  return `# Decisions\n\n${lines.join('\n')}\n`;
}

function vitepress() {
  const docs = new URL('docs/', import.meta.url);
  const command = new URL('node_modules/vitepress/bin/vitepress.js', docs);
  const run = (program, ...args) => {
    const { status } = spawnSync(program, args, { cwd: docs, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) process.exit(status ?? 1);
  };
  if (!existsSync(command)) run('npm', 'ci', '--no-audit', '--no-fund', '--ignore-scripts');
  run(process.execPath, fileURLToPath(command), 'build', ...process.argv.slice(2));
}

async function makePlay() {
  const folder = new URL('play/', SITE);
  mkdirSync(folder, { recursive: true });
  await bundle(['play.ts'], { outdir: fileURLToPath(folder) });
  cpSync(new URL('play/index.html', import.meta.url), new URL('index.html', folder));
}
