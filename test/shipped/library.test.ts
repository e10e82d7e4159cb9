import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';

/** The parts of files for CI that have commands. */
interface CiFile {
  readonly jobs: { readonly scenarios: { readonly steps: readonly { readonly run?: string }[] } };
  readonly modbus: { readonly script: string[] };
}

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

describe('the library of the npm package', () => {
  const project = mkdtempSync(join(tmpdir(), 'modbus-sim-user-'));
  const modules = join(project, 'node_modules');

  /** A project that uses the installed package, and what the examples need from our own packages. */
  beforeAll(() => {
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(inject('npm').shipped.home, join(modules, 'modbus-sim'));
    symlinkSync('../modbus-sim/dist/main.js', join(modules, '.bin/modbus-sim'));
    for (const name of ['vitest', 'typescript', '@types'])
      symlinkSync(resolve('node_modules', name), join(modules, name));
    for (const [from, to] of [
      ['vitest'],
      ['node-test'],
      ['poller.mjs'],
      ['ci/scenarios', 'scenarios'],
    ] as const)
      cpSync(join('examples', from), join(project, to ?? from), { recursive: true });
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it.each([
    ['import', 'use.mjs', "import { startSimulator } from 'modbus-sim';"],
    ['require', 'use.cjs', "const { startSimulator } = require('modbus-sim');"],
  ])('is loaded by %s', (_, file, load) => {
    const use = `${load}
      const devices = { meter: { registers: { holding: [{ address: 0, name: 'voltage', value: 7 }] } } };
      const units = { 1: 'meter' };
      const lines = { lan: { tcp: { port: 0 }, units }, bus: { serial: { path: 'virtual' }, units } };
      startSimulator({ devices, lines }).then(async (simulator) => {
        console.log(await simulator.device('meter').read('voltage'), simulator.line('bus').path);
        await simulator.stop();
      });`;
    writeFileSync(join(project, file), use);
    const { status, output } = run('node', [file], project);
    expect(output).toMatch(/^7 \/dev\/pts\/\d+\n$/);
    expect(status).toBe(0);
  });

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

  it('is started by npx, as the demo, in a folder of its own', async () => {
    // npx does not pass a signal on, so it goes to all of them. With --no it fetches nothing.
    const args = ['--no', '--', 'modbus-sim', '--free-ports', '--http_port', '0'];
    const demo = spawn('npx', args, { cwd: project, env: environment, detached: true });
    let printed = '';
    for (const output of [demo.stdout, demo.stderr]) output.on('data', (text) => (printed += text));
    const ended = once(demo, 'exit');
    try {
      await expect.poll(() => printed).toMatch(/^ready$/m);
      expect(printed).toMatch(/^line demo: RTU on \/dev\/pts\//m);
      expect(printed).toMatch(/^REST on http:/m);
    } finally {
      process.kill(-(demo.pid as number), 'SIGTERM');
      await ended;
    }
  });

  it('runs scenarios by the commands of the files for GitHub and GitLab, which are the same', () => {
    const read = (name: string): CiFile => parse(readFileSync(join('examples/ci', name), 'utf8'));
    const github = read('github.yml').jobs.scenarios.steps.flatMap(({ run: command }) => command ?? []);
    expect(read('gitlab-ci.yml').modbus.script).toEqual(github);
    const [install, test = ''] = github;
    // It is installed already. The scenario is for the poller of the examples.
    expect(install).toBe(`npm install --no-save ./${basename(inject('npm').tarball)}`);
    const { status, output } = run('sh', ['-ec', test], project);
    expect(output).toMatch(/: pass\. 3 of 3 steps passed\.$/m);
    expect(status).toBe(0);
    expect(readFileSync(join(project, 'modbus.xml'), 'utf8')).toMatch(/tests="3" failures="0"/);
  });

  const compile = (file: string) => {
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    return run('node', ['node_modules/typescript/bin/tsc', ...options, '--skipLibCheck', file], project);
  };

  it('has types, with which the example compiles', () => {
    expect(compile('vitest/meter.test.ts')).toEqual({ status: 0, output: '' });
  });

  it('has types that find mistakes, in a configuration too', () => {
    const program = (tcp: string) => `
      import { startSimulator, type Configuration } from 'modbus-sim';
      const address = { address: 0, type: 'float32', value: 230.1, name: 'voltage', write: true } as const;
      const configuration = {
        devices: { meter: { registers: { holding: [address], input: [{ address: 0, signal: { sine: { period: '60s', amplitude: 5 } } }] } } },
        lines: { lan: { tcp: ${tcp}, units: { 1: 'meter' } }, bench: { serial: { path: 'virtual' }, units: { '2-9': 'meter' } } },
        faults: [{ name: 'slow', when: { function: 3, address: [0, 9] }, do: [{ delay: '250ms' }, { exception: 6 }] }],
      } satisfies Configuration;
      const simulator = await startSimulator(configuration);`;
    const right = `${program('{ port: 502 }')}
      await simulator.device('meter').power({ state: 'off' });
      export const hits: number = (await simulator.faults.get('slow')).hits;`;
    const wrong = `${program('{ prot: 502 }')}
      await startSimulator({ lines: { lan: { tcp: { prot: 1 } } } });
      await startSimulator({});
      await simulator.device('meter').power({ state: 'of' });
      export const hits: string = (await simulator.faults.get('slow')).hits;`;
    writeFileSync(join(project, 'right.ts'), right);
    writeFileSync(join(project, 'wrong.ts'), wrong);
    expect(compile('right.ts')).toEqual({ status: 0, output: '' });
    const { output } = compile('wrong.ts');
    expect(output.match(/error TS\d+/g)).toEqual(
      ['TS2353', 'TS2345', 'TS2353', 'TS2345', 'TS2322', 'TS2322'].map((code) => `error ${code}`),
    );
    expect(output.match(/'prot' does not exist/g)).toHaveLength(2);
  });
});
