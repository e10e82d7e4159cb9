import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const MOST_BYTES = 80 * 1024;
const ASSETS = 'dist/web/assets';

describe('the bundle of the console', () => {
  const assets = readdirSync(ASSETS).filter((name) => !name.endsWith('.gz'));

  it('is at most 80 KB, compressed', () => {
    const sizes = assets.map((name) => gzipSync(readFileSync(`${ASSETS}/${name}`)).length);
    const sum = sizes.reduce((total, size) => total + size, 0);
    const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
    const each = assets.map((name, i) => `${name} ${kilobytes(sizes[i] as number)}`).join(', ');
    console.info(`the console is ${kilobytes(sum)} compressed: ${each}`);
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sum).toBeLessThanOrEqual(MOST_BYTES);
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
    const page = readFileSync('dist/web/index.html', 'utf8');
    expect(page).not.toMatch(/<style|style=|<script[^>]*>[^<]|\son\w+=|\{\w+\.\w+\}/);
    const named = [...page.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name]) => name);
    expect(assets).toEqual(expect.arrayContaining(named));
    expect(named).toHaveLength(3);
  });
});
