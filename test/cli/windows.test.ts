import { chmodSync, existsSync, mkdtempSync, promises, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StateFiles } from '../../src/cli/service/state/state-files.js';
import { platformOf } from '../../src/common/platform.js';
import { extcapWrapper } from '../../src/extensions/extcap/verb.js';
import { signalGroup } from '../../src/testing/scenario/dut.js';

const WINDOWS = platformOf('win32');

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'modbus-sim-windows-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('Wireshark on Windows starts a script of cmd.exe', () => {
  expect(extcapWrapper('C:\\Program Files\\node.exe', 'C:\\bench\\dist\\main.js', WINDOWS)).toBe(
    '@"C:\\Program Files\\node.exe" "C:\\bench\\dist\\main.js" extcap %*\r\n',
  );
});

it('a state on Windows is kept without opening its directory, which Windows refuses', async () => {
  const opened: string[] = [];
  const noDirectories = {
    ...promises,
    open: ((path: string, ...rest: [string, number]) => {
      opened.push(path);
      return promises.open(path, ...rest);
    }) as typeof promises.open,
  };
  const kept = directory();
  const files = new StateFiles(kept, noDirectories, WINDOWS);
  await files.write('clock.json', ['{"a":1}']);
  await files.sync();
  expect(opened).toEqual([join(kept, 'clock.json.tmp')]);
  expect(await files.read('clock.json')).toEqual({ text: '{"a":1}' });
});

it('on Windows a program under test is ended by taskkill, with all that it has started', async () => {
  const bin = directory();
  const said = join(bin, 'said');
  writeFileSync(join(bin, 'taskkill'), `#!/bin/sh\necho "$@" >${said}.tmp && mv ${said}.tmp ${said}\n`);
  chmodSync(join(bin, 'taskkill'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${bin}${delimiter}${PATH}`;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  signalGroup({ pid: 4711 }, 'SIGTERM', WINDOWS);
  await expect.poll(() => existsSync(said)).toBe(true);
  expect(readFileSync(said, 'utf8')).toBe('/pid 4711 /t /f\n');
});
