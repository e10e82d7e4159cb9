import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fileProblem, save } from '../../../src/cli/verbs/write-files.js';
import { type Replaceable, whyNotReplaced } from '../../../src/common/replace.js';
import { Capture } from '../../../src/simulator/traffic/capture/capture.js';
import { junitReport } from '../../../src/testing/report/junit.js';

function fileWith(content: string | Uint8Array): string {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-replace-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'file');
  writeFileSync(path, content);
  return path;
}

const CONFIGURATION = '{"devices": {"bench": {}}, "lines": {"bench": {"units": {}}}}';
const lines = { names: () => [], get: () => undefined };

it.each<[Replaceable, string | Uint8Array]>([
  ['JUnit report', junitReport([])],
  ['HTML report', '<!doctype html>\n<html>'],
  ['JSON report', '{\n  "name": "bench",\n  "verdict": "pass"\n}'],
  ['list of benches', '[\n  {\n    "targets": [],\n    "labels": {"bench": "a"}'],
  ['list of benches', '[]\n'],
  ['scenario', '# The client does not come back.\nname: x\nsteps:\n'],
  ['capture', Buffer.concat([...new Capture('wire', lines).header()])],
])('a %s is written over an earlier one, an empty file and no other', (kind, earlier) => {
  for (const content of [earlier, '']) {
    const path = fileWith(content);
    expect(fileProblem(path, kind)).toBeUndefined();
    expect(save(path, 'new', kind)).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe('new');
  }
  for (const mine of [
    CONFIGURATION,
    'name: hand-written\nsteps: []\n',
    'devices: {}\n',
    '\n\r\r\nby Wireshark',
  ]) {
    const path = fileWith(mine);
    const problem = `${path}: exists and is not an earlier ${kind}, so it is not replaced; remove it, or name another file`;
    expect([fileProblem(path, kind), save(path, 'new', kind)]).toEqual([problem, problem]);
    expect(readFileSync(path, 'utf8')).toBe(mine);
  }
});

it('a pipe or a device is written whatever comes out of it', () => {
  expect(whyNotReplaced('/dev/null', 'capture')).toBeUndefined();
  expect(whyNotReplaced(join(tmpdir(), 'modbus-sim-no-such-file'), 'capture')).toBeUndefined();
});
