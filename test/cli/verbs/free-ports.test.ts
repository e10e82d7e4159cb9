import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
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

const HINT = '(EADDRINUSE). With --free-ports all lines use free ports.';
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

/** Polls two units, and connects again where its connection has ended, unless that ends it. */
const client = (isLost: string) => `
import { connect } from 'node:net';
const [host, port] = process.argv.slice(2);
let id = 0;
function open() {
  let next;
  const socket = connect({ host, port: Number(port) });
  const ask = () => socket.write(Buffer.from([0, ++id & 0xff, 0, 0, 0, 6, 1 + (id % 2), 3, 0, 0, 0, 1]));
  socket.on('connect', () => { console.log('polling'); ask(); });
  socket.on('data', () => { next = setTimeout(ask, 100); });
  socket.on('error', () => {});
  socket.on('close', () => { clearTimeout(next); ${isLost}; });
}
open();`;

it('the scenario that fuzz writes of a closed line fails on its client, and passes on one that connects again', async () => {
  const dut = (isLost: string) =>
    `${process.execPath} ${newFile(client(isLost), 'client.mjs')} {lines.bus.host} {lines.bus.port}`;
  const config = newFile({ devices: DEVICES, lines: { bus: lines().bus } });
  const replay = newFile({ schedule: [{ after: 2, requests: 2, does: { closed: 'bus' } }] });
  const scenario = join(newDirectory(), 'found.yaml');
  const ends = dut('process.exit(3)');
  const where = ['--config', config, '--free-ports', '--dut', ends];
  const fuzzed = await run(
    ['fuzz', 'bus', ...where, '--replay', replay, '--scenario', scenario],
    newDirectory(),
  );
  expect([fuzzed.code, fuzzed.stdout.split('\n').at(-2)]).toEqual([
    1,
    expect.stringContaining('closed bus for 2 requests'),
  ]);
  expect((await run(['test', scenario, '--free-ports'], newDirectory())).code).toBe(1);
  const other = await run(
    ['test', scenario, '--free-ports', '--dut', dut('setTimeout(open, 100)')],
    newDirectory(),
  );
  expect(other, other.stdout).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('5 of 5 steps passed'),
  });
});
