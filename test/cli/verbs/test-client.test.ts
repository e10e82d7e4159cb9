import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKS } from '../../../src/testing/checks.js';
import { realWorldChecks } from '../../../src/testing/client/checks/real-world.js';
import { clientReportSchema } from '../../../src/testing/report/shapes.js';
import { dist } from '../../support/program.mjs';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const DEVICES = {
  meter: { registers: { holding: [{ address: 0, value: 230 }] } },
  relay: {
    registers: { coils: [{ address: 0, write: true }], holding: [{ address: 0, name: 'seen', write: true }] },
  },
};
const UNITS = { 1: 'meter', 2: 'relay' };
const LINES = {
  bus: { tcp: { port: 0 }, units: UNITS },
  rtu: { serial: { path: 'virtual', baudRate: 9600, parity: 'none' }, units: UNITS },
};
const POLLER = `${process.execPath} ${resolve('examples/poller.mjs')} {lines.bus.host} {lines.bus.port}`;
const ECHO_POLLER = `${process.execPath} ${resolve('test/support/echo-poller.mjs')} {lines.bus.host} {lines.bus.port}`;
const SERIAL_POLLER = `${process.execPath} ${resolve('test/support/serial-poller.mjs')} {lines.rtu.path} 200`;

const config = () => newFile({ devices: DEVICES, lines: LINES });
const testClient = (...args: string[]) => run(['test-client', ...args], newDirectory());

/** Tests a client that takes replies of any transaction, and writes back what it has read. */
const testEcho = (...observer: string[]) =>
  testClient('bus', '--config', config(), '--dut', ECHO_POLLER, '--checks', 'wrong-transaction', ...observer);

describe.concurrent('modbus-sim test-client', () => {
  it('starts a client on Modbus TCP, says how it behaves, and writes reports', async () => {
    const directory = newDirectory();
    const [junit, html, json] = ['r.xml', 'r.html', 'r.json'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const checks = 'retries,exception-2';
    const { code, stdout, stderr } = await testClient(
      ...['bus', '--config', config(), '--dut', POLLER, '--checks', checks, '--seed', '7'],
      ...['--junit', junit, '--html', html, '--json', json],
    );
    // A slow machine takes more than 30 s, and says how far it is.
    expect({ code, stderr: stderr.replace(/^.*check \d+ of \d+.*\n/gm, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    // The time-out is what these checks need; a busy machine may leave it inconclusive.
    expect(stdout).toContain('3 checks for at most 10 min, seed 7');
    expect(stdout).toMatch(
      /^pass +\d Retries when no reply comes \(sent the request 3 times \(\d of \d trials\)\)$/m,
    );
    expect(stdout).toMatch(/^.*retries 2 times.*\.$/im);
    expect(readFileSync(junit, 'utf8')).toContain('tests="3" failures="0" errors="0"');
    expect(readFileSync(html, 'utf8')).toMatch(/"frames":\[\{"seq":/);
    const report = clientReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(report).toMatchObject({ line: 'bus', seed: 7, found: { retries: 2 } });
    expect(report.checks.map(({ id }) => id).sort()).toEqual(['exception-2', 'retries', 'time-out']);
  });

  it('asks a register that the client writes as observer', async () => {
    const { code, stdout, stderr } = await testEcho('--observer-register', 'relay.seen');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/the observer then showed "\d+", the value in the disturbed reply/);
  });

  it('asks a command as observer', async () => {
    const asked = join(newDirectory(), 'asked');
    await testEcho('--observer-command', `echo asked >> ${asked}; echo 230`);
    expect(readFileSync(asked, 'utf8')).toContain('asked\n');
  });

  it('asks a page as observer', async () => {
    const paths = new Set<string | undefined>();
    const page = createServer(({ url }, answer) => {
      paths.add(url);
      answer.end('{"values":[230]}');
    }).listen(0, '127.0.0.1');
    await once(page, 'listening');
    const { port } = page.address() as AddressInfo;
    await testEcho('--observer-url', `http://127.0.0.1:${port}/now`, '--observer-path', 'values[0]');
    page.close();
    expect([...paths]).toEqual(['/now']);
  });

  it('tests a client on a virtual serial line', async () => {
    const { code, stdout } = await testClient(
      ...['rtu', '--config', config(), '--dut', SERIAL_POLLER, '--checks', 'exception-2'],
    );
    // A busy machine may leave it open; the client is never blamed.
    expect(stdout).toMatch(
      /^(pass|inconclusive) +1 Keeps polling after exception 2, without a tight loop of requests/m,
    );
    expect(code).toBe(0);
  });

  it('refuses to begin while nobody polls, and says what it waited for', async () => {
    const { code, stdout } = await testClient('bus', '--config', config(), '--limit', '4s');
    expect(code).toBe(2);
    expect(stdout).toContain('No client polls line bus: no request came within 1 s.');
  });

  it('says how the client ended when it does not go on', async () => {
    const { code, stdout } = await testClient('bus', '--config', config(), '--dut', 'echo hello; exit 3');
    expect(code).toBe(2);
    expect(stdout).toContain(
      'exited before its first request: the device under test ended with exit code 3; its last output:\nhello\n',
    );
  });

  it.each([
    ['without --restart', 'not run', []],
    ['with --restart', expect.stringMatching(/^(pass|inconclusive)$/), ['--restart']],
  ])('names a crash in a check first, once; %s the next check: %s', async (_, next, options) => {
    const directory = newDirectory();
    const json = join(directory, 'r.json');
    // A reset is an error that the poller does not handle.
    const args = ['--checks', 'reset-in-reply,outage-5s', '--seed', '1', '--json', json, ...options];
    const { code, stdout } = await testClient('bus', '--config', config(), '--dut', POLLER, ...args);
    expect(code).toBe(1);
    expect(stdout.match(/ended with exit code 1/g)).toHaveLength(1);
    const { checks, conclusions } = clientReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(conclusions[0]).toMatch(
      /^Crashed after a reset in the middle of a reply: exit code 1, last line /,
    );
    // A busy machine may leave it open.
    const verdicts = Object.fromEntries(checks.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toEqual({ 'reset-in-reply': 'fail', 'outage-5s': next });
  });

  it('has a client as example that ends when its connection ends in an orderly way, too', async () => {
    // So Node reports a reset to a client that did not run for a moment. One that ignores it never asks again.
    const server = createTcpServer((socket) => void socket.once('data', () => socket.end())).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = spawn(process.execPath, ['examples/poller.mjs', '127.0.0.1', `${port}`]);
    let error = '';
    client.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text;
    });
    expect(await once(client, 'close')).toEqual([1, null]);
    expect(error).toContain('the connection has ended');
    server.close();
  });

  it('stops at once at Ctrl-C, with what it has', async () => {
    const child = spawn(
      process.execPath,
      [join(dist, 'main.js'), 'test-client', 'bus', '--config', config(), '--checks', 'poll-period'],
      { env: { ...process.env, TMPDIR: newDirectory() } },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!output.includes('watching') && (output + text).includes('watching')) child.kill('SIGINT');
      output += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(2);
    expect(output).toMatch(/^not run +1 Polls in a regular rhythm\n +the client test was stopped before$/m);
  });

  it('lists all checks', async () => {
    const { code, stdout } = await testClient('--list');
    expect(code).toBe(0);
    for (const { id, group, title } of [...CHECKS, ...realWorldChecks()])
      expect(stdout).toContain(`${id} (${group}): ${title}\n`);
  });

  it.each([
    [[], 'test-client takes the name of one line'],
    [['nowhere'], 'unknown line "nowhere" (known: bus, rtu)'],
    [['bus', '--checks', 'wrong-crx'], '--checks: unknown check "wrong-crx", did you mean "wrong-crc"?'],
    [
      ['bus', '--checks', 'wrong-crc'],
      "--checks: check wrong-crc can't be run on line bus: line bus has no CRC; checks in group damaged that can run on this line: truncated-reply, ",
    ],
    [
      ['bus', '--checks', 'one-at-a-time'],
      "--checks: check one-at-a-time can't be run on line bus: it is for serial lines, but line bus is tcp",
    ],
    [['bus', '--limit', 'soon'], '--limit: expected a time from 1s to 24h, such as 10m, got "soon"'],
    [['bus', '--unit', '300'], '--unit: expected a unit identifier from 0 to 255, got "300"'],
    [['bus', '--unit', '9'], 'line bus has no unit 9'],
    [['bus', '--seed', '-1'], '--seed needs a value'],
    [['bus', '--dut', 'cat {lines.bus.path}'], '--dut: unknown part of {lines.bus} "path"'],
    [['bus', '--observer-register', 'relay.sen'], '--observer-register: unknown name "sen"'],
    [['bus', '--observer-url', 'meter'], '--observer-url: expected a URL with http or https, got "meter"'],
    [['bus', '--observer-path', 'a'], '--observer-path needs --observer-url'],
    [
      ['bus', '--observer-command', 'true', '--observer-register', 'relay.seen'],
      'expected one observer, got --observer-register and --observer-command',
    ],
    [['bus', '--url', 'http://127.0.0.1:9'], '--config has no effect with --url'],
    [['bus', '--token', 'secret'], '--token needs --url'],
    [['bus', '--wrong'], 'unknown option "--wrong"'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await testClient(...args, ...(args.length > 0 ? ['--config', config()] : []));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
