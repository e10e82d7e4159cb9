import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mainOf } from './packages.js';

/** That of the system, which has the packages of Debian. */
const PYTHON = '/usr/bin/python3';

/** What builds the package, installs it, and tests it, as modules of Python. */
const NEEDED = ['build', 'hatchling', 'pip', 'pytest', 'serial', 'pymodbus'];

const missing = NEEDED.filter((name) => spawnSync(PYTHON, ['-c', `import ${name}`]).status !== 0);
if (missing.length > 0)
  process.stderr.write(
    `python/ is not built and tested: ${PYTHON} has no ${missing.join(', ')} (apt install python3-build python3-hatchling python3-pip python3-pytest python3-serial python3-pymodbus)\n`,
  );

describe('the package for Python', () => {
  it('belongs to the version of the program, and has its licence', () => {
    const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
    const text = (file: string) => readFileSync(join('python', file), 'utf8');
    expect(text('pyproject.toml')).toContain(`version = "${version.replace('-rc.', 'rc')}"`);
    expect(text('LICENSE')).toBe(readFileSync('LICENSE', 'utf8'));
  });
});

describe.runIf(missing.length === 0)('its wheel, installed without a network', () => {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-python-'));
  const python = join(directory, 'venv/bin/python');
  const quietly = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });

  beforeAll(() => {
    quietly(
      PYTHON,
      '-m',
      'build',
      '--wheel',
      '--no-isolation',
      '--skip-dependency-check',
      '--outdir',
      directory,
      'python',
    );
    const wheel = readdirSync(directory).find((name) => name.endsWith('.whl')) as string;
    quietly(PYTHON, '-m', 'venv', '--without-pip', '--system-site-packages', join(directory, 'venv'));
    quietly(python, '-m', 'pip', 'install', '--quiet', '--no-index', join(directory, wheel));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** The environment without what vitest tells its own processes. */
  const environment = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name)),
    ),
    MODBUS_SIM: `"${process.execPath}" "${mainOf(inject('npm').shipped)}"`,
    PYTHONDONTWRITEBYTECODE: '1',
    TMPDIR: directory,
  };

  it.each([
    ['its own tests, with pyserial and pymodbus as clients', 'python/tests', 22],
    ['examples/pytest', 'examples/pytest', 2],
  ])('passes %s', (_, tests, passed) => {
    const args = [
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
      '-W',
      'error::pytest.PytestWarning',
      resolve(tests),
    ];
    const { status, stdout } = spawnSync(python, args, {
      cwd: directory,
      encoding: 'utf8',
      env: environment,
    });
    expect(stdout).toMatch(new RegExp(`^${passed} passed`, 'm'));
    expect(status).toBe(0);
  });
});
