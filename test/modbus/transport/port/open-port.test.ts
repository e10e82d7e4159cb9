import { chownSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openPort } from '../../../../src/modbus/transport/port/open-port.js';
import type { SerialSettings } from '../../../../src/modbus/transport/settings.js';

const SOMEBODY = 54_321;

it('the link of a virtual line is in a directory of this user where another user has the usual one', async (context) => {
  if (process.geteuid?.() !== 0) context.skip('only root can give a directory to another user');
  const directory = mkdtempSync(join(tmpdir(), 'links-'));
  vi.stubEnv('TMPDIR', directory);
  vi.stubEnv('RUNTIME_DIRECTORY', undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });
  mkdirSync(join(directory, 'modbus-sim'));
  chownSync(join(directory, 'modbus-sim'), SOMEBODY, SOMEBODY);
  const settings: SerialSettings = {
    kind: 'serial',
    framing: 'rtu',
    name: 'bench',
    path: 'virtual',
    mode: 'server',
    baudRate: 9600,
    dataBits: 8,
    parity: 'none',
    stopBits: 1,
    timing: { turnaround: 'eager' },
    whenBusy: 'replace',
    echo: 'auto',
  };
  const opened = await openPort(settings, { onData() {}, onDamaged() {}, onClose() {} });
  if (!opened.ok) throw new Error(opened.error);
  onTestFinished(() => opened.port.close());
  expect(readlinkSync(join(directory, 'modbus-sim-0', 'bench'))).toMatch(/^\/dev\/\.\/pts\/\d+$/);
  expect(opened.notes).toContain(
    `${directory}/modbus-sim belongs to another user (${SOMEBODY}), so the links of virtual lines are in ${directory}/modbus-sim-0`,
  );
});
