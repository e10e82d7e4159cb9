import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../document/helpers.js';
import { dist } from '../../support/program.mjs';
import { run, runHere, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

/** A mistake in each part of the file. */
const MISTAKES = `devices:
  meter:
    registers:
      holding:
        - {address: 0, type: uint17}
        - {address: 10, value: 70000}
        - {value: 1}
        - {address: 20, type: float32}
        - {address: 21}
lines:
  bench: {serial: {path: virtual, parity: non}, units: {1: metre}}
  lan: {tcp: {port: -1}, units: {1: meter}}
  nothing: {}
`;

const FOUND = [
  ':5:24: devices.meter.registers.holding[0].type: expected bits, uint16, ',
  ':6:25: devices.meter.registers.holding[1].value: expected a whole number from 0 to 65535 (uint16), got 70000',
  ':7:11: devices.meter.registers.holding[2].address: missing, expected a whole number from 0 to 65535',
  ':9:11: devices.meter.registers.holding[4]: address 21 is already defined by devices.meter.registers.holding[3]',
  ':11:35: lines.bench.serial.parity: expected none, even or odd, got "non"',
  ':11:57: lines.bench.units.1: unknown device "metre"',
  ':12:15: lines.lan.tcp.port: expected a whole number from 0 to 65535, got -1',
  ':13:3: lines.nothing: expected one of serial, tcp, udp, tls, got ',
];

describe('modbus-sim check', () => {
  it('prints every mistake of a file, each with its place and its path, and exits with 1', async () => {
    const file = newFile(MISTAKES);
    const { code, stdout, stderr } = await run(['check', file], newDirectory());
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const lines = stderr.trim().split('\n');
    FOUND.forEach((start, i) => {
      expect(lines[i]).toContain(`${file}${start}`);
    });
    expect(lines).toHaveLength(FOUND.length);
  });

  it('prints the same as JSON, with line and column', async () => {
    const file = newFile('devices: {a: 3}\n');
    const { code, stdout, stderr } = await runHere(['check', file, '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ file, ok: false, warnings: [] },
      mistakes: [{ path: 'lines' }, { path: 'devices.a', line: 1, column: 11 }],
    });
  });

  it('checks standard input for -', () => {
    const check = (input: string) =>
      spawnSync(process.execPath, [join(dist, 'main.js'), 'check', '-'], { input, encoding: 'utf8' });
    expect(check('devices: {a: 3}')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('-:1:11: devices.a: expected a mapping, got 3'),
    });
    const good = {
      devices: { meter: { registers: { holding: [{ address: 0 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    };
    expect(check(JSON.stringify(good))).toMatchObject({ status: 0, stdout: '-: no mistakes found\n' });
  });

  it('takes the token from the environment, as serving would', async () => {
    const file = newFile({
      devices: { meter: { registers: { holding: [{ address: 0 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      api: { host: '0.0.0.0' },
    });
    const without = await runHere(['check', file], { MODBUS_SIM_TOKEN: '' });
    expect(without.stderr).toContain('api.host: 0.0.0.0 can be reached from other machines');
    const env = { MODBUS_SIM_TOKEN: 'secret-of-the-test-bench' };
    const { code, stderr } = await runHere(['check', file], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.each(['bench.yaml', 'plant.json'])('finds no mistake in %s', async (name) => {
    const file = fixture(name);
    const { code, stdout, stderr } = await runHere(['check', file]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${file}: no mistakes found\n`, stderr: '' });
  });
});

describe('a configuration that can not be served', () => {
  const device = (holding: unknown) => ({ registers: { holding } });
  const lines = { bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } } };

  it('because it misses a field is an error with its place, exit code 1, and no line is opened', async () => {
    const file = newFile({ devices: { meter: device([{ value: 1 }]) }, lines });
    const { code, stdout, stderr } = await run(['--config', file], newDirectory());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/holding\[0\]\.address: missing/);
  });

  it('because it is no YAML is an error with its place', async () => {
    const { code, stdout, stderr } = await runHere(['--config', newFile('devices: [1,\n  b: }')]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/config\.yaml:\d+:\d+: \S/);
  });

  it('because it is not there is an error that names it', async () => {
    const { code, stderr } = await runHere(['--config', '/nowhere/config.yaml']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '/nowhere/config.yaml: no such file\n' });
  });
});
