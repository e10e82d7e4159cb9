import { spawn } from 'node:child_process';
import { existsSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningProgram, startProgram } from '../../support/program.mjs';
import { openRawClient, openSocket, readRequest } from './clients.js';
import { METER, TCP_LINE, VIRTUAL_LINE } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();

/** When the replies are due that clients wait for. */
const DUE_MS = 120_000;

const lines = { bench: VIRTUAL_LINE, lan: TCP_LINE };
const slow = { name: 'slow', when: { unit: 1 }, do: [{ delay: DUE_MS }] };

/** A program whose links are in a directory that outlives it. */
async function start(config: object) {
  const directory = newDirectory();
  const program = await startProgram({
    config: { devices: METER, lines, ...config },
    env: { TMPDIR: directory },
  });
  const link = join(directory, 'modbus-sim', 'bench');
  expect(realpathSync(link)).toBe(program.serialPath('bench'));
  return { program, link };
}

/** Sends a signal; the exit code, and how long it took, in ms. */
async function end({ pid, exited }: RunningProgram, signal: NodeJS.Signals) {
  const sentAt = performance.now();
  process.kill(pid, signal);
  return { code: await exited, took: performance.now() - sentAt };
}

/** How many requests have come, on all lines. */
async function requests(program: RunningProgram): Promise<number> {
  const response = await fetch(`${program.restUrl()}/api/v1/lines`);
  const { lines } = (await response.json()) as { lines: { counters: { requests: number } }[] };
  return lines.reduce((sum, { counters }) => sum + counters.requests, 0);
}

function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s ends the program with exit code 0', (signal) => {
  it('while nobody is connected; ports and links are gone then', async () => {
    const { program, link } = await start({});
    const [modbus, rest] = [program.tcpPort('lan'), Number(new URL(program.restUrl()).port)];
    const { code } = await end(program, signal);
    expect(code).toBe(0);
    expect(existsSync(link)).toBe(false);
    expect(await Promise.all([isRefused(modbus), isRefused(rest)])).toEqual([true, true]);
    expect(program.output.stderr).not.toMatch(/"level":[456]0/);
  });

  it('while clients of all lines and of REST are connected, and wait for replies that are due in 2 minutes', async () => {
    const { program, link } = await start({ faults: [slow] });
    const client = await openRawClient(link);
    client.send(readRequest(1, 0));
    const socket = await openSocket(program.tcpPort('lan'));
    socket.write(Uint8Array.of(0, 1, 0, 0, 0, 6, 1, 3, 0, 0, 0, 1));
    const http = await openSocket(Number(new URL(program.restUrl()).port));
    http.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await new Promise((resolve) => http.once('data', resolve));
    await expect.poll(() => requests(program)).toBe(2);

    const { code, took } = await end(program, signal);
    expect(code).toBe(0);
    expect(took).toBeLessThan(DUE_MS / 2);
    expect(existsSync(link)).toBe(false);
  });
});

it('the end of the terminal ends a program that was started on it, and SIGHUP alone does not', async () => {
  const { program } = await start({});
  process.kill(program.pid, 'SIGHUP');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);
  const file = join(newDirectory(), 'bench.json');
  writeFileSync(file, JSON.stringify({ devices: METER, lines: { lan: TCP_LINE } }));
  const command = `exec ${process.execPath} dist/main.js --config ${file} --http_port 0`;
  const terminal = spawn('script', ['-qfc', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void terminal.kill('SIGKILL'));
  let printed = '';
  terminal.stdout.on('data', (text) => {
    printed += text;
  });
  await expect.poll(() => printed).toMatch(/^ready\r?$/m);
  const rest = Number(/REST on http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
  terminal.kill('SIGKILL');
  await expect.poll(() => isRefused(rest)).toBe(true);
});

describe('a program that was killed', () => {
  it('leaves a link that the next start replaces', async () => {
    const { program, link } = await start({});
    const left = readlinkSync(link);
    process.kill(program.pid, 'SIGKILL');
    expect(await program.exited).toBeNull();
    expect(readlinkSync(link)).toBe(left);
    const next = await startProgram({
      config: { devices: METER, lines },
      env: { TMPDIR: join(link, '..', '..') },
    });
    expect(realpathSync(link)).toBe(next.serialPath('bench'));
    expect(await next.stop()).toBe(0);
  });
});

describe('a second program with a line of the same name', () => {
  it('leaves the link to the first one alone, coming and going', async () => {
    const { program, link } = await start({});
    const first = program.serialPath('bench');
    const second = await startProgram({
      config: { devices: METER, lines },
      env: { TMPDIR: join(link, '..', '..') },
    });
    expect(second.serialPath('bench')).not.toBe(first);
    expect(await second.stop()).toBe(0);
    expect(second.output.stderr).toContain(`${link}: points to a line that process ${program.pid} serves`);
    expect(realpathSync(link)).toBe(first);
    expect(await program.stop()).toBe(0);
  });
});
