import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openPty } from '../../src/transport/port/pty.js';
import { dist } from '../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();
/** A net for what is never printed. */
const LIMIT_MS = 30_000;

/** Runs the program with a terminal for its standard error; tells what that terminal shows. */
async function startOnTerminal(env: Readonly<Record<string, string>>, ...args: string[]) {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  const { pty } = opened;
  const master = new ReadStream(pty.masterFd);
  let shown = '';
  master.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  master.on('error', () => {});
  const directory = newDirectory();
  const link = join(directory, 'bench');
  const lines = { bench: { serial: { path: 'virtual', link }, units: { 1: 'meter' } } };
  const faults = [{ name: 'refused', do: [{ exception: 4 }] }];
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify({ devices: METER, lines, faults, api: { port: 0 } }));
  const terminal = openSync(pty.path, 'w');
  const program = spawn(process.execPath, [join(dist, 'main.js'), '--config', file, ...args], {
    stdio: ['ignore', 'pipe', terminal],
    env: { ...process.env, TERM: 'xterm', ...env },
  });
  closeSync(terminal);
  onTestFinished(async () => {
    const ended = new Promise((resolve) => program.once('exit', resolve));
    program.kill('SIGTERM');
    await ended;
    pty.close();
    master.destroy();
  });
  let said = '';
  program.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await vi.waitFor(() => expect(said).toContain('ready\n'), { timeout: LIMIT_MS });
  return { link, shown: () => shown };
}

it('on a terminal an entry is a line of text: time, level, line, what happened, and which faults acted', async () => {
  const { link, shown } = await startOnTerminal({ NO_COLOR: '1' }, '--log', 'debug');
  const client = await openRawClient(link);
  client.send(readRequest(1, 0));
  expect(await client.receive(5)).toHaveLength(5);
  await vi.waitFor(() => expect(shown()).toContain('reply:'), { timeout: LIMIT_MS });
  expect(shown()).toMatch(
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: bench: line open \{"place":"\/dev\/pts\/\d+"\}\r?$/m,
  );
  expect(shown()).toMatch(
    /^\[[\d:.]+\] DEBUG: bench: reply: unit 1 read holding registers 0: exception 04 server device failure; faults: refused \(exception\) \{.*\}\r?$/m,
  );
});

it('on a terminal only warnings are shown by default, such as a CRC error', async () => {
  const { link, shown } = await startOnTerminal({ NO_COLOR: '1' });
  const client = await openRawClient(link);
  client.send(readReply(9, 1).with(3, 0x55));
  client.send(readRequest(1, 0).with(2, 0x55));
  await vi.waitFor(() => expect(shown()).toMatch(/^\[[\d:.]+\] WARN: bench: CRC error: /m), {
    timeout: LIMIT_MS,
  });
  expect(shown()).not.toContain('INFO');
});
