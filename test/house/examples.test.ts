import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dist } from '../support/program.mjs';

/** The environment without what vitest tells its own processes. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|NODE_TEST_CONTEXT)/.test(name)),
);

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...environment, ...env },
  });
  return { status, output: stdout + stderr };
}

describe('the package, as npm would publish it', () => {
  const project = mkdtempSync(join(tmpdir(), 'modbus-sim-user-'));
  const modules = join(project, 'node_modules');

  /** A project that has the packed package installed, beside links to our own packages, so that no network is needed. */
  beforeAll(() => {
    mkdirSync(join(modules, 'modbus-sim'), { recursive: true });
    const packed = execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', project],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const [{ filename }]: [{ filename: string }] = JSON.parse(packed);
    execFileSync('tar', ['-xzf', filename, '-C', 'node_modules/modbus-sim', '--strip-components=1'], {
      cwd: project,
    });
    for (const name of readdirSync('node_modules')) {
      if (name !== 'modbus-sim') symlinkSync(resolve('node_modules', name), join(modules, name));
    }
    for (const name of ['vitest', 'node-test'])
      cpSync(join('examples', name), join(project, name), { recursive: true });
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('runs the example for vitest', () => {
    const { status, output } = run('node', ['node_modules/vitest/vitest.mjs', 'run', 'vitest'], project);
    expect(output).toMatch(/Tests\s.*2 passed/);
    expect(status).toBe(0);
  });

  it('runs the example for the test runner of Node', () => {
    const { status, output } = run('node', ['--test', 'node-test/meter.test.mjs'], project);
    expect(output).toMatch(/pass 2/);
    expect(status).toBe(0);
  });

  const compile = (file: string) => {
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    return run('node', ['node_modules/typescript/bin/tsc', ...options, '--skipLibCheck', file], project);
  };

  it('has types, with which the example compiles', () => {
    expect(compile('vitest/meter.test.ts')).toEqual({ status: 0, output: '' });
  });

  it('has types that find mistakes', () => {
    const wrong = `
      import { startSimulator } from 'modbus-sim';
      const simulator = await startSimulator({});
      await simulator.device('meter').power({ state: 'of' });
      const hits: string = (await simulator.faults.get('slow')).hits;
      export { hits };
    `;
    writeFileSync(join(project, 'wrong.ts'), wrong);
    const { output } = compile('wrong.ts');
    expect(output.match(/error TS\d+/g)).toEqual(['error TS2322', 'error TS2322']);
  });
});

const pytest = ['pytest-3', 'pytest'].find((command) => run(command, ['--version'], '.').status === 0);
if (pytest === undefined)
  process.stderr.write('examples/pytest is not run: there is no pytest (apt install python3-pytest)\n');

describe.runIf(pytest)('examples/pytest', () => {
  it('runs its tests against the built program', () => {
    const env = {
      MODBUS_SIM: `"${process.execPath}" "${join(dist, 'main.js')}"`,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { status, output } = run(
      pytest as string,
      ['-q', '-p', 'no:cacheprovider'],
      'examples/pytest',
      env,
    );
    expect(output).toMatch(/^3 passed/m);
    expect(status).toBe(0);
  });
});
