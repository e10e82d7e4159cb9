import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changesOf, shipped } from '../../scripts/package/release-notes.mjs';
import { catalogueIds } from '../../src/files/config/catalogue.js';
import { sunspecIds } from '../../src/files/config/sunspec/place.js';

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly engines?: { readonly node?: string };
}

const lock: { packages: Record<string, Locked & { optionalDependencies?: Record<string, string> }> } =
  JSON.parse(readFileSync('package-lock.json', 'utf8'));

/** The licences of what is bundled, each under the place of its package in the lockfile. */
const licences = ['dist', 'dist/web']
  .map((folder) => readFileSync(`${folder}/LICENSES.txt`, 'utf8'))
  .join('\n');

/** What is in dist beside types and shared parts; esbuild puts hashes into names. */
const OTHERS = [
  'dist/LICENSES.txt',
  'dist/desk-thread.js',
  'dist/library.js',
  'dist/main.js',
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
  'dist/web/assets/app-HASH.css',
  'dist/web/assets/app-HASH.js',
  'dist/web/assets/icon-HASH.svg',
  'dist/web/index.html',
  'dist/work-thread.js',
];

/** The files of the package as npm would publish it. */
function packedFiles(): string[] {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed]: { files: { path: string }[] }[] = JSON.parse(report);
  return packed?.files.map(({ path }) => path) ?? [];
}

describe('the npm package', () => {
  const files = packedFiles();

  it('has these files beside the program', () => {
    expect(files.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
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
    const parts = inDist.filter((path) => /^dist\/part-[\w-]+\.js$/.test(path));
    expect(parts.length).toBeGreaterThan(0);
    const others = inDist.filter((path) => !parts.includes(path));
    expect(others.map((path) => path.replace(/-[A-Z0-9]{8}\./, '-HASH.')).sort()).toEqual(OTHERS);
    expect(files.filter((path) => path.endsWith('.d.ts'))).toEqual(['dist/library.d.ts']);
    expect(readFileSync('dist/library.d.ts', 'utf8')).not.toMatch(/\bimport\b.*['"]|^\/\/\/ /m);
  });
});

describe('a release', () => {
  it('is published by the command that is documented, which npm would take', () => {
    const [, tag] =
      /^npm publish --tag (\w+) build\/release\//m.exec(readFileSync('docs/raspberry-pi.md', 'utf8')) ?? [];
    // Nothing answers there: a dry run only asks which versions there are.
    const offline = ['--registry=http://127.0.0.1:9/', '--fetch-retries=0'];
    const args = ['publish', '--dry-run', '--json', '--ignore-scripts', '--tag', tag as string, ...offline];
    const report = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    expect(JSON.parse(report)).toMatchObject({ 'modbus-sim': { id: `modbus-sim@${version}` } });
  });

  const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
  const changelog = readFileSync('CHANGELOG.md', 'utf8');

  it('has a version that the lockfile and the changelog know', () => {
    expect(lock.packages['']).toMatchObject({ version });
    expect(changesOf(version, changelog)).toMatch(/^### Added\n/);
    expect(changesOf(version, changelog)).not.toMatch(/^## /m);
    expect(changesOf('0.0.7', changelog)).toBeUndefined();
  });

  it('lists what it ships: packages that are installed or bundled, none for development', () => {
    const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const bom = JSON.parse(
      execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    const made = shipped(bom, licences, new Date(0));
    const names = made.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['fastify', 'koffi', 'serialport', 'zod', 'htm', 'preact']));
    for (const name of ['vitest', 'typescript', 'esbuild']) expect(names).not.toContain(name);
    const refs = new Set(['modbus-sim@'.concat(version), ...made.components.map((one) => one['bom-ref'])]);
    for (const { ref, dependsOn } of made.dependencies) {
      for (const name of [ref, ...dependsOn]) expect(refs).toContain(name);
    }
    expect(made.metadata).toMatchObject({
      timestamp: '1970-01-01T00:00:00.000Z',
      component: { name: 'modbus-sim', version },
    });
  });
});

describe('package-lock.json', () => {
  it('asks for no package that needs Node 22, of those that are installed or bundled', () => {
    const isBundled = (path: string) => licences.includes(`==== ${path} ====`);
    const tooNew = Object.entries(lock.packages)
      .filter(([path, { dev }]) => !dev || isBundled(path))
      .filter(([, { engines }]) => /^\s*>=?\s*(2[1-9]|[3-9]\d)/.test(engines?.node ?? ''))
      .map(([path]) => path);
    expect(tooNew).toEqual([]);
  });

  // An entry without it is installed unverified. The registry may not serve the packages of every platform.
  it('has the integrity of every package but optional ones', () => {
    const unverified = Object.entries(lock.packages)
      .filter(([path, { integrity, optional }]) => path !== '' && integrity === undefined && !optional)
      .map(([path]) => path);
    expect(unverified).toEqual([]);
  });

  // npm leaves out those that a registry does not serve, and then `npm ci` refuses the file on every machine.
  it('has the optional packages of every platform', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).filter(
        (name) =>
          !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });
});
