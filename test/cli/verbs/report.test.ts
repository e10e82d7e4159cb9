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

it('leaves secrets out however they are written, and wherever they occur again', async () => {
  const file = newFile(`
x-common: &t ${SECRET}-0
notes: [{text: "it is ${SECRET}-1, mind"}]
api: {token: *t, readTokens: {a: ${SECRET}-2}, tokens: ${SECRET}-3, Token: {x: [${SECRET}-1]}}
mqtt: {url: "mqtt://user:${SECRET}/4@${SECRET}@broker", password: ${SECRET}-5}
deep: [[{webhook: "http://a:b@${SECRET}@host/"}]]
`);
  const { code, stdout } = await runHere(['report', file, '--url', `http://admin:${SECRET}@127.0.0.1:9`]);
  expect(code).toBe(0);
  expect(stdout).toContain('it is (left out), mind');
  expect(stdout).toContain('mqtt://(left out)@broker');
  expect(stdout).not.toContain(SECRET);
});

it('ends with 2 when the file can not be read, after the rest of the report', async () => {
  const { code, stdout } = await runHere(['report', '/nowhere/bench.yaml', '--url', 'http://127.0.0.1:9']);
  expect(code).toBe(2);
  expect(stdout).toContain('no such file');
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
