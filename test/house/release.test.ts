import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changesOf, shipped } from '../../scripts/package/release-notes.mjs';

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
