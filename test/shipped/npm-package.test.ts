import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { catalogueIds } from '../../src/document/catalogue-files.js';
import { sunspecIds } from '../../src/document/sunspec/place.js';
import { VIEW_NAMES } from '../../src/remote/api/console/paths.js';
import { startAround } from './around.js';
import { startBench } from './bench.js';
import { askForEveryDocument } from './documents.js';
import { HOSTS } from './hosts.js';
import { lazyParts, neverLoaded } from './lazy-parts.js';
import { describeAt, describeServing, type Made, verbsOf } from './trials.js';
import { ALL_TRIALS, TRIALS_BY_HOST } from './verbs.js';

/** What is in dist beside types and shared parts; esbuild puts hashes into names. */
const OTHERS = [
  'dist/LICENSES.txt',
  'dist/desk-thread.js',
  'dist/library.js',
  'dist/main.js',
  'dist/modbus-sim.1',
  'dist/remote/api/openapi/docs.css',
  'dist/remote/api/openapi/examples.json',
  'dist/remote/api/openapi/made/catalogue.json',
  'dist/remote/api/openapi/made/client.json',
  'dist/remote/api/openapi/made/configuration.json',
  'dist/remote/api/openapi/made/fault-rule.json',
  'dist/remote/api/openapi/made/fuzz.json',
  'dist/remote/api/openapi/made/line.json',
  'dist/remote/api/openapi/made/openapi.json',
  'dist/remote/api/openapi/made/scenario.json',
  'dist/remote/api/openapi/made/server.json',
  'dist/remote/api/openapi/made/signals.json',
  'dist/remote/web/base.css',
  'dist/web/LICENSES.txt',
  // The start page has its view in it.
  ...['app-HASH.css', 'app-HASH.js', 'icon-HASH.svg', 'recorded-answers-HASH.js', 'report-HASH.js']
    .concat(VIEW_NAMES.filter((name) => name !== 'lines').map((name) => `${name}-HASH.js`))
    .flatMap((name) => [`dist/web/assets/${name}`, `dist/web/assets/${name}.gz`])
    .sort(),
  'dist/web/index.html',
  'dist/web/report.html',
  'dist/work-thread.js',
];

const { shipped, files } = inject('npm');
let made: Made;
beforeAll(async () => {
  made = { shipped, around: await startAround({ keepsLoaded: true }) };
});
afterAll(() => made?.around.stop());

for (const host of HOSTS) {
  describeAt(host, host === HOSTS[0] ? ALL_TRIALS : TRIALS_BY_HOST, () => made);
  describeServing(host, () => made);
}

it('has every document and report of REST', async () => {
  const bench = await startBench(shipped, 'localhost', made.around);
  await askForEveryDocument(bench);
  await bench.writeLoaded();
  await bench.stop();
});

describe('the npm package', () => {
  it('is tried with every verb of its help', async () => {
    const tried = new Set(ALL_TRIALS.map(({ verb }) => verb));
    expect((await verbsOf(shipped)).filter((verb) => !tried.has(verb))).toEqual([]);
  });

  it('loads each part once that it loads only when it is needed', () => {
    expect(lazyParts(shipped).size).toBeGreaterThan(30);
    expect(neverLoaded(shipped, made.around.loaded ?? '')).toEqual([]);
  });

  it('has these files beside the program', () => {
    expect(files.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      ...catalogueIds().map((id) => `catalogue/${id}.yaml`),
      'package.json',
      'schema/catalogue.json',
      'schema/configuration.json',
      'schema/scenario.json',
      'sunspec/LICENSE',
      'sunspec/NOTICE',
      ...sunspecIds()
        .map((id) => `sunspec/model_${id}.json`)
        .sort(),
      'systemd/modbus-sim.service',
      'systemd/modbus-sim@.service',
      'systemd/modules-load.conf',
      'systemd/privileged-ports.conf',
      'systemd/service.conf',
      'systemd/sysusers.conf',
      'udev/61-modbus-sim.rules',
    ]);
  });

  it('has of the program two commands, a library with its types, the parts of them, and a few documents', () => {
    const inDist = files.filter((path) => path.startsWith('dist/') && !path.endsWith('.d.ts'));
    const parts = inDist.filter((path) => /^dist\/(part|web\/assets\/chunk)-[\w-]+\.js(\.gz)?$/.test(path));
    expect(parts.length).toBeGreaterThan(0);
    const others = inDist.filter((path) => !parts.includes(path));
    expect(others.map((path) => path.replace(/-[A-Z0-9]{8}\./, '-HASH.')).sort()).toEqual(OTHERS);
    expect(files.filter((path) => path.endsWith('.d.ts'))).toEqual(['dist/library.d.ts']);
    expect(readFileSync(join(shipped.home, 'dist/library.d.ts'), 'utf8')).not.toMatch(
      /\bimport\b.*['"]|^\/\/\/ /m,
    );
  });
});
