import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { VIEW_NAMES } from '../../src/remote/api/console/paths.js';

const MOST_AT_START = 60 * 1024;
const MOST_OF_A_VIEW = 30 * 1024;
const ASSETS = 'dist/web/assets';

describe('the bundle of the console', () => {
  const assets = readdirSync(ASSETS).filter((name) => !name.endsWith('.gz'));

  /** The files that are loaded with these: what a script imports before it runs. */
  const closure = (names: readonly string[]) => {
    const all = new Set(names);
    for (const name of all) {
      const text = name.endsWith('.js') ? readFileSync(`${ASSETS}/${name}`, 'utf8') : '';
      for (const [, next = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) all.add(next);
    }
    return all;
  };
  const page = readFileSync('dist/web/index.html', 'utf8');
  const named = [...page.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name]) => name as string);
  const bytesOf = (names: Iterable<string>) =>
    [...names].reduce((sum, name) => sum + gzipSync(readFileSync(`${ASSETS}/${name}`)).length, 0);

  it('loads at most 60 KB for its start page, compressed, all of which the page names', () => {
    expect([...closure(named)].toSorted()).toEqual(named.toSorted());
    console.info(`the start page is ${(bytesOf(named) / 1024).toFixed(1)} KB compressed`);
    expect(bytesOf(named)).toBeLessThanOrEqual(MOST_AT_START);
  });

  it('loads each other view when it is opened, at most 30 KB', () => {
    const start = new Set(named);
    const views = assets.filter((name) => name.endsWith('.js') && !/^(app|chunk)-/.test(name));
    const sizes = views.map(
      (name) =>
        [name.split('-')[0], bytesOf([...closure([name])].filter((each) => !start.has(each)))] as const,
    );
    console.info(sizes.map(([name, bytes]) => `${name} ${(bytes / 1024).toFixed(1)} KB`).join(', '));
    expect(sizes.map(([name]) => name)).toEqual(
      expect.arrayContaining(VIEW_NAMES.filter((name) => name !== 'lines')),
    );
    expect(sizes.filter(([, bytes]) => bytes > MOST_OF_A_VIEW)).toEqual([]);
  });

  it('has each file compressed beside it', () => {
    const compressed = readdirSync(ASSETS).filter((name) => name.endsWith('.gz'));
    expect(compressed.map((name) => name.slice(0, -3)).sort()).toEqual(assets.toSorted());
    for (const name of compressed)
      expect(gunzipSync(readFileSync(`${ASSETS}/${name}`))).toEqual(
        readFileSync(`${ASSETS}/${name.slice(0, -3)}`),
      );
  });

  it('has the hash of its content in each name', () => {
    expect(assets.filter((name) => !/-[A-Z0-9]{8}\.(js|css|svg)$/.test(name))).toEqual([]);
  });

  it('names the licence of each package in it', () => {
    const licences = readFileSync('dist/web/LICENSES.txt', 'utf8');
    for (const name of ['preact', 'htm', '@preact/signals']) {
      expect(licences).toContain(`==== node_modules/${name} ====\n`);
    }
  });

  it('has a page without scripts and styles of its own, which names its files', () => {
    expect(page).not.toMatch(/<style|style=|<script[^>]*>[^<]|\son\w+=|\{\w+\.\w+\}/);
    expect(assets).toEqual(expect.arrayContaining(named));
    expect(named.map((name) => name.split('-')[0]).toSorted()).toEqual(['app', 'app', 'chunk', 'icon']);
  });
});
