import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly engines?: { readonly node?: string };
}

const lock: { packages: Record<string, Locked & { optionalDependencies?: Record<string, string> }> } =
  JSON.parse(readFileSync('package-lock.json', 'utf8'));

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
  it('has the program, the service, the udev rules and the licence, and neither sources nor tests', () => {
    const files = packedFiles();
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'dist/library.d.ts',
        'dist/library.js',
        'dist/main.js',
        'dist/web/LICENSES.txt',
        'dist/web/index.html',
        'package.json',
        'systemd/modbus-sim.service',
        'systemd/service.conf',
        'udev/61-modbus-sim.rules',
      ]),
    );
    expect(files.filter((path) => /^(src|test|bench|node_modules)\//.test(path))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  it('asks for no production package that needs Node 22', () => {
    const tooNew = Object.entries(lock.packages)
      .filter(([, { dev, engines }]) => !dev && /^\s*>=?\s*(2[1-9]|[3-9]\d)/.test(engines?.node ?? ''))
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
