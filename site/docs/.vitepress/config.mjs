import { readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const PAGES = fileURLToPath(new URL('../pages/', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

// biome-ignore lint/style/noDefaultExport: VitePress wants it
export default defineConfig({
  title: 'modbus-sim',
  description: 'A Modbus server simulator for real lines, with faults that are ordered.',
  srcDir: 'pages',
  outDir: '../../dist.site',
  cacheDir: 'node_modules/.cache',
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  lastUpdated: false,
  markdown: {
    config: (md) => md.core.ruler.push('links', ({ tokens, env }) => mend(tokens, env.relativePath)),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Pages', link: '/docs/' },
      { text: 'Faults', link: '/docs/faults' },
      { text: 'Catalogue', link: '/docs/catalogue' },
      { text: 'Play', link: '/play/', target: '_self' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: sidebar(readFileSync(join(PAGES, 'docs/README.md'), 'utf8')),
  },
});

/** The pages, in the groups of docs/README.md. */
function sidebar(text) {
  const groups = [];
  for (const line of text.split('\n')) {
    const [, group] = line.match(/^\*\*(.+)\*\*$/) ?? [];
    if (group) groups.push({ text: group, items: [] });
    for (const [, title, page] of line.matchAll(/\[([^\]]+)\]\(([\w-]+)\.md\)/g))
      groups.at(-1)?.items.push({ text: title[0].toUpperCase() + title.slice(1), link: `/docs/${page}` });
  }
  return groups;
}

const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Takes the links off that lead to the sources, which the site does not have, and has the others lead to files of it. */
function mend(tokens, page) {
  let isOff = false;
  for (const token of tokens) {
    if (token.children) mend(token.children, page);
    if (token.type === 'link_close' && isOff) {
      token.tag = 'span';
      isOff = false;
    }
    const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : '#';
    if (/^(\w+:|#|\/)/.test(href)) continue;
    const path = normalize(join(dirname(page), href.replace(/#.*/, '')));
    if (isFile(join(PAGES, path)) || isFile(join(PAGES, path, 'index.md'))) continue;
    if (isFile(join(PAGES, path, 'README.md'))) token.attrSet('href', `/${join(path, 'README.md')}`);
    else if (isFile(join(PAGES, 'public', path))) token.attrSet('href', `/${path}`);
    else {
      isOff = true;
      token.tag = 'span';
      token.attrs = null;
    }
  }
}
