import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPty } from '../../../src/modbus/transport/port/pty.js';
import { dist } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();
/** A net for what is never printed. */
const LIMIT_MS = 30_000;

interface Terminal {
  /** Text as a person sees it. */
  shown(): string;
  /** What Ctrl-S and Ctrl-Q do. */
  hold(): void;
  release(): void;
}

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
  // Raw mode has no Ctrl-S.
  execFileSync('stty', ['-F', pty.path, 'ixon', 'opost', 'onlcr']);
  const terminal = openSync(pty.path, 'w');
  const program = spawn(process.execPath, [join(dist, 'main.js'), '--config', file, ...args], {
    stdio: ['ignore', 'pipe', terminal],
    env: { ...process.env, TERM: 'xterm', ...env },
  });
  closeSync(terminal);
  const exited = new Promise<number | null>((resolve) => program.once('exit', resolve));
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await exited;
    pty.close();
    master.destroy();
  });
  let said = '';
  program.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await vi.waitFor(() => expect(said).toContain('ready\n'), { timeout: LIMIT_MS });
  const key = (character: string) => writeSync(pty.masterFd, character);
  const terminalOf: Terminal = { shown: () => shown, hold: () => key('\x13'), release: () => key('\x11') };
  return {
    link,
    ...terminalOf,
    restUrl: () => /REST on (\S+)/.exec(said)?.[1] ?? '',
    stop: () => {
      program.kill('SIGTERM');
      return exited;
    },
  };
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

describe('a terminal that Ctrl-S holds', () => {
  /** More than the log keeps of what waits. */
  const MANY = 1500;

  it('stops neither lines nor REST, and the program ends when it is asked to', async () => {
    const program = await startOnTerminal({ NO_COLOR: '1' }, '--log', 'debug');
    const client = await openRawClient(program.link);
    program.hold();
    for (let i = 0; i < 20; i++) {
      client.send(readRequest(1, 0));
      expect(await client.receive(5)).toHaveLength(5);
    }
    expect((await fetch(`${program.restUrl()}/api/v1/lines`)).status).toBe(200);
    expect(await program.stop()).toBe(0);
  });

  it('gets what waited when Ctrl-Q releases it, in order, and how many entries were lost', async () => {
    const program = await startOnTerminal({ NO_COLOR: '1' }, '--log', 'debug');
    const client = await openRawClient(program.link);
    program.hold();
    for (let i = 0; i < MANY; i++) {
      client.send(readRequest(1, 0));
      await client.receive(5);
    }
    program.release();
    const lost = () => Number(/WARN: (\d+) log entries were lost/.exec(program.shown())?.[1] ?? 0);
    const entries = () =>
      program
        .shown()
        .split('\r\n')
        .filter((line) => / DEBUG: bench: (request|reply)/.test(line)).length;
    // The program may log the last reply after the client has it, and then after what was lost.
    await expect.poll(() => entries() + lost()).toBe(2 * MANY);
    expect(lost()).toBeGreaterThan(0);
    client.send(readRequest(1, 0));
    await vi.waitFor(() => expect(program.shown()).toMatch(/log entries were lost.*bench: reply/s), {
      timeout: LIMIT_MS,
    });
    expect(await program.stop()).toBe(0);
  });
});
