import { expect, it, onTestFinished } from 'vitest';
import { version } from '../../../src/common/package.js';
import { startProgram } from '../../support/program.mjs';
import { METER, VIRTUAL_LINE } from './plant.js';
import { runHere, scratchSpace } from './run.js';

const { newFile } = scratchSpace();

const SECRET = 'not-for-the-report';

const config = {
  devices: METER,
  lines: { bench: VIRTUAL_LINE },
  api: { host: '127.0.0.1', port: 0, token: SECRET, readTokens: [`${SECRET}-2`] },
};

it('has the program, the lines, the configuration and the events of a running simulator, and no secret', async () => {
  const program = await startProgram({ config });
  onTestFinished(async () => void (await program.stop()));
  const { code, stdout } = await runHere(['report', '--url', program.restUrl(), '--token', SECRET]);
  expect(code).toBe(0);
  expect(stdout).toContain(`modbus-sim ${version()}, Node ${process.version}`);
  expect(stdout).toMatch(/^bench: open, /m);
  expect(stdout).toMatch(/^lines:\n {2}bench:/m);
  expect(stdout).toContain('line open');
  expect(stdout).not.toContain(SECRET);
});

it('has a file without its secrets where no simulator answers, and says so', async () => {
  const mqtt = { url: `mqtt://user:${SECRET}@broker`, password: SECRET };
  const file = newFile(JSON.stringify({ ...config, mqtt }));
  const { code, stdout } = await runHere(['report', file, '--url', 'http://127.0.0.1:9']);
  expect(code).toBe(0);
  expect(stdout).toContain('http://127.0.0.1:9: no answer');
  expect(stdout).toContain('token: "(left out)"');
  expect(stdout).toMatch(/^ {2}bench:/m);
  expect(stdout).not.toContain(SECRET);
});
