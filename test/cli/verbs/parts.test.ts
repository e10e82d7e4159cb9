import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Script } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PartLoader } from '../../../src/cli/verbs/parts.js';
import { optimizeLate } from '../../../src/common/platform.js';

/** What was compiled, with or without kept code. */
const { scripts } = vi.hoisted(() => ({ scripts: [] as Script[] }));

vi.mock('node:vm', async (original) => {
  const vm = await original<typeof import('node:vm')>();
  class Noted extends vm.Script {
    constructor(...given: ConstructorParameters<typeof vm.Script>) {
      super(...given);
      scripts.push(this);
    }
  }
  return { ...vm, Script: Noted };
});

let directory: string;
let folder: URL;
let code: URL;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'modbus-sim-parts-'));
  folder = pathToFileURL(`${directory}/`);
  code = new URL('code/main/', folder);
  write('part-sum', { needs: ['part-one'], body: "exports.sum = require('./part-one').one + 1;" });
  write('part-one', { body: 'exports.one = 1;' });
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
  optimizeLate(false);
});

/** Writes a part as scripts/bundle.mjs does. */
function write(name: string, { needs = [], body }: { needs?: readonly string[]; body: string }): void {
  writeFileSync(
    join(directory, `${name}.js`),
    `//${needs.join(' ')}\n(function (exports, require, module, partUrl, loadLater) {${body}\n})`,
  );
}

/** Loads part-sum, and keeps what was compiled. */
function keepCode(): void {
  const loader = new PartLoader(folder, code, true);
  loader.load('part-sum');
  loader.keep();
}

describe('the parts of the program', () => {
  it('are loaded with those that they need, each once', () => {
    write('part-count', {
      needs: ['part-one'],
      body: "require('./part-one').one++; exports.sum = require('./part-one').one; exports.url = partUrl;",
    });
    const loader = new PartLoader(folder);
    expect(loader.load('part-count')).toMatchObject({
      sum: 2,
      url: new URL('part-count.js', folder).href,
    });
    expect(loader.load('part-one')).toEqual({ one: 2 });
  });

  it('are loaded later each in a turn of its own, and packages as Node imports them', async () => {
    const begun = "globalThis.setImmediate(() => exports.turns.push('turn'));";
    write('part-c', { body: `exports.turns = []; ${begun} exports.turns.push('c');` });
    write('part-b', { needs: ['part-c'], body: "require('./part-c').turns.push('b');" });
    write('part-a', {
      body: "exports.b = async () => [await loadLater('part-b'), require('./part-c').turns, await loadLater('node:os')];",
    });
    const { b } = new PartLoader(folder).load('part-a');
    const [, turns, os] = await (b as () => Promise<[unknown, string[], typeof import('node:os')]>)();
    expect(turns).toEqual(['c', 'turn', 'b']);
    expect(os.tmpdir).toBe(tmpdir);
  });

  it('can be loaded again after a failure', () => {
    write('part-one', { body: "throw new Error('no descriptor is left');" });
    const loader = new PartLoader(folder, code);
    expect(() => loader.load('part-sum')).toThrow('no descriptor is left');
    write('part-one', { body: 'exports.one = 5;' });
    expect(loader.load('part-sum')).toEqual({ sum: 6 });
  });

  it('write no code unless they are asked for it, and then for each part', () => {
    new PartLoader(folder, code).load('part-sum');
    expect(() => readdirSync(code)).toThrow('ENOENT');
    keepCode();
    expect(readdirSync(code)).toEqual(['part-one', 'part-sum']);
  });

  it('are not compiled again where their code is kept', () => {
    keepCode();
    scripts.length = 0;
    expect(new PartLoader(folder, code).load('part-sum')).toEqual({ sum: 2 });
    expect(scripts.map(({ cachedDataRejected }) => cachedDataRejected)).toEqual([false, false]);
  });
});

describe('kept code that is not that of a part', () => {
  const sources = { 'part-one': 'exports.one = 1;', other: 'exports.one = 4;' };

  it('is not run: of another source of the same length', () => {
    keepCode();
    write('part-one', { body: sources.other });
    expect(new PartLoader(folder, code).load('part-sum')).toEqual({ sum: 5 });
  });

  it('is not run: damaged at any place, cut, empty, or a folder', () => {
    keepCode();
    const file = new URL('part-one', code);
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 29) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0x10;
      writeFileSync(file, damaged);
      expect(new PartLoader(folder, code).load('part-sum')).toEqual({ sum: 2 });
    }
    for (let length = 0; length < whole.length; length += 37) {
      writeFileSync(file, whole.subarray(0, length));
      expect(new PartLoader(folder, code).load('part-sum')).toEqual({ sum: 2 });
    }
    rmSync(file);
    mkdirSync(file);
    expect(new PartLoader(folder, code).load('part-sum')).toEqual({ sum: 2 });
  });
});
