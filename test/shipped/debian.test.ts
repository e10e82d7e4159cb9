import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAround } from './around.js';
import { debianTree } from './packages.js';
import { describeAt, type Made } from './trials.js';
import { oneOfEach } from './verbs.js';

describe('the Debian package, unpacked', () => {
  let made: Made;
  beforeAll(async () => {
    const around = await startAround();
    made = { around, shipped: debianTree(around.directory) };
  });
  afterAll(() => made?.around.stop());

  it('has the manual and the examples, to which its README leads', () => {
    const manual = join(made.around.directory, 'usr/share/doc/modbus-sim');
    const readme = readFileSync(join(manual, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(((?:docs|examples)\/[^)#]+)/g)].map(([, path = '']) => path);
    expect(links).toContain('docs/first-session.md');
    expect(links.filter((path) => !existsSync(join(manual, path)))).toEqual([]);
    expect(existsSync(join(manual, 'examples/power-meter.yaml'))).toBe(true);
  });

  describeAt('localhost', oneOfEach(true), () => made);
});
