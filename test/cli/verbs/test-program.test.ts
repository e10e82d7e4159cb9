import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

/** Gone, or dead and not yet waited for by the first process of the system. */
function isGone(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  return !existsSync(status) || /^State:\s+Z/m.test(readFileSync(status, 'utf8'));
}

it('modbus-sim test stops a program that prints without end, and all that it has started', async () => {
  const directory = newDirectory();
  const command = `sleep 600 & echo $! > ${directory}/pid; yes`;
  const file = newFile({
    name: 'a test',
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { bus: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    dut: { command, ready: 'y' },
    steps: [{ wait: '200ms' }],
  });
  const { code, stdout } = await run(['test', file], directory);
  expect(code).toBe(0);
  expect(stdout).toContain('a test: pass. 1 of 1 steps passed.');
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
  await until(() => isGone(pid), 'the child of the program is gone');
});
