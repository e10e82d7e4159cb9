import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProgram } from '../../support/program.mjs';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

/** Another program has the port of the file. */
let other: Server;
let port: number;

beforeAll(async () => {
  other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  ({ port } = other.address() as AddressInfo);
});
afterAll(() => {
  other.close();
});

const HINT = '(EADDRINUSE). With --free-ports all lines are on free ports.';
const DEVICES = { meter: { registers: { holding: [{ address: 0, value: 230 }] } } };
const lines = () => ({
  bus: { tcp: { host: '127.0.0.1', port }, units: { 1: 'meter', 2: 'meter' } },
  rtu: { serial: { path: '/dev/nowhere' }, units: { 1: 'meter' } },
});
const POLLER = `${process.execPath} ${resolve('examples/poller.mjs')} {lines.bus.host} {lines.bus.port}`;

/** The port that was printed for the line on a socket. */
const printed = (stdout: string) => Number(/^line bus: Modbus TCP on 127\.0\.0\.1:(\d+)/m.exec(stdout)?.[1]);

it('a scenario has free ports, and its program is told of them', async () => {
  const scenario = newFile({
    name: 'beside a bench',
    devices: DEVICES,
    lines: lines(),
    dut: { command: POLLER, ready: 'polling' },
    steps: [{ expect: { unit: 1, function: 3 }, within: '30s' }],
  });
  const taken = await run(['test', scenario], newDirectory());
  expect(taken).toMatchObject({ code: 2, stdout: expect.stringContaining(`:${port}: another program`) });
  expect(taken.stdout).toContain(HINT);
  const free = await run(['test', scenario, '--free-ports'], newDirectory());
  expect({ code: free.code, stderr: free.stderr }).toEqual({ code: 0, stderr: '' });
  expect(printed(free.stdout)).toBeGreaterThan(0);
  expect(printed(free.stdout)).not.toBe(port);
  expect(free.stdout).toMatch(/^line rtu: RTU on \/dev\/pts\/\d+/m);
});

it('a client test has free ports', async () => {
  const config = newFile({ devices: DEVICES, lines: lines() });
  const args = [
    'test-client',
    'bus',
    '--config',
    config,
    '--limit',
    '1s',
    '--checks',
    'time-out',
    '--dut',
    POLLER,
  ];
  expect(await run(args, newDirectory())).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(HINT),
  });
  const { stdout } = await run([...args, '--free-ports'], newDirectory());
  expect(printed(stdout)).not.toBe(port);
  expect(stdout).toContain('line bus: watching the client');
});

it('a simulator has free ports, REST too, and leaves no link behind', async () => {
  const config = { devices: DEVICES, lines: lines(), api: { port } };
  expect(await run(['--config', newFile({ ...config, api: { port: 0 } })], newDirectory())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(HINT),
  });
  const program = await startProgram({ config, args: ['--free-ports'] });
  const link = /^line rtu: .*\(also ([^)]+)\)/m.exec(program.output.stdout)?.[1] ?? '';
  expect(existsSync(link)).toBe(true);
  expect(printed(program.output.stdout)).not.toBe(port);
  expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);
  expect(await program.stop()).toBe(0);
  expect(existsSync(link)).toBe(false);
});
