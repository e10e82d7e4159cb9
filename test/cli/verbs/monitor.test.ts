import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../remote/api/masters.js';
import { dist, type RunningProgram, startProgram } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER, VIRTUAL_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();
/** A net for what is never printed. */
const LIMIT = { timeout: 60_000 };

const config = {
  devices: METER,
  lines: { bench: VIRTUAL_LINE, other: VIRTUAL_LINE },
  faults: [{ name: 'late', when: { line: 'bench' }, do: [{ delay: 20 }] }],
};

async function start(...args: string[]): Promise<RunningProgram> {
  const program = await startProgram({ config, args });
  onTestFinished(async () => void (await program.stop()));
  return program;
}

/** Follows a simulator as a person would, with both outputs in pipes. */
async function monitor(url: string, ...args: string[]) {
  const child = spawn(process.execPath, [join(dist, 'main.js'), 'monitor', '--url', url, ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.error += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  await vi.waitFor(() => expect(output.error).toContain(`${url}: connected\n`), LIMIT);
  return { child, output, exited };
}

async function ask(program: RunningProgram, line: string): Promise<void> {
  const client = await openRawClient(program.serialPath(line));
  client.send(readRequest(1, 0));
  const reply = readReply(1, 1);
  expect(await client.receive(reply.length)).toEqual(reply);
  await client.close();
}

it('prints each event as a line of JSON', async () => {
  const program = await start();
  const { child, output, exited } = await monitor(program.restUrl(), '--line', 'bench', '--json');
  await ask(program, 'bench');
  await vi.waitFor(() => expect(output.out.split('\n')).toHaveLength(3), LIMIT);
  const events = output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(events).toMatchObject([
    { kind: 'request', line: 'bench', bytes: '01 03 00 00 00 01 84 0a' },
    { kind: 'reply', line: 'bench' },
  ]);
  child.kill('SIGINT');
  expect(await exited).toBe(0);
});

it('prints a frame in a line, with pause, direction, words, faults and bytes, of the line that is asked for', async () => {
  const program = await start();
  const { child, output, exited } = await monitor(program.restUrl(), '--line', 'bench', '--hex');
  await ask(program, 'other');
  await ask(program, 'bench');
  await ask(program, 'bench');
  await vi.waitFor(() => expect(output.out.split('\n')).toHaveLength(5), LIMIT);
  const lines = output.out.split('\n');
  const [time, pause, characters] = ['\\d\\d:\\d\\d:\\d\\d\\.\\d{6}', '\\d+\\.\\d{3} ms', '\\d+\\.\\d ch'];
  expect(lines[1]).toMatch(
    new RegExp(
      `^${time}  bench +${pause} +← unit 1 read holding registers 0: 1  \\[late: delay\\]  \\| 01 03 02 00 01 79 84$`,
    ),
  );
  expect(lines[2]).toMatch(
    new RegExp(
      `^${time}  bench +${pause} +${characters}  → unit 1 read holding registers 0  \\| 01 03 00 00 00 01 84 0a$`,
    ),
  );
  child.kill('SIGINT');
  expect(await exited).toBe(0);
  expect(output.error.split('\n')).toHaveLength(2);
});

it('begins with the last frames that are kept, of a rule or of what went wrong', async () => {
  const program = await start();
  for (const line of ['bench', 'other', 'bench', 'other']) await ask(program, line);
  for (const filter of [['--rule', 'late'], ['--problems']]) {
    const { child, output, exited } = await monitor(program.restUrl(), '--last', '1', ...filter);
    await vi.waitFor(() => expect(output.out).toMatch(/ bench .* ← .*\[late: delay\]\n$/), LIMIT);
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(output.out.trim().split('\n')).toHaveLength(1);
  }
});

it('waits for a simulator that is started anew, says so, and shows what that one has done meanwhile', async () => {
  const first = await startProgram({ config, args: ['--http_port', `${await freePort()}`] });
  const url = first.restUrl();
  const { output } = await monitor(url);
  await ask(first, 'bench');
  await vi.waitFor(() => expect(output.out).toContain('←'), LIMIT);
  await first.stop();
  await vi.waitFor(() => expect(output.error).toContain('; waiting for the simulator\n'), LIMIT);
  const before = output.out.length;
  await start('--http_port', new URL(url).port);
  await vi.waitFor(() => expect(output.out.slice(before)).toContain('bench'), LIMIT);
  // Of two outputs, either may come first.
  await vi.waitFor(() => expect(output.error).toContain(`${url}: the simulator was restarted\n`), LIMIT);
  await vi.waitFor(() => expect(output.out.slice(before)).toContain('• line open: /dev/pts/'), LIMIT);
});

it('ends quietly when nobody reads on', async () => {
  const program = await start();
  const { child, output, exited } = await monitor(program.restUrl());
  child.stdout.destroy();
  await ask(program, 'other');
  await ask(program, 'other');
  expect(await exited).toBe(0);
  expect(output.error.split('\n')).toHaveLength(2);
});

it('refuses a filter that does not fit with exit code 2 and the words of the simulator', async () => {
  const program = await start();
  const url = program.restUrl();
  expect(await run(['monitor', '--url', url, '--line', 'bnch'], newDirectory())).toEqual({
    code: 2,
    stdout: '',
    stderr: `${url}: line: unknown line "bnch", did you mean "bench"? (known: bench, other)\n`,
  });
});

it('ends with 1 where no simulator is, and where the token is wrong', async () => {
  const nowhere = await run(['monitor', '--url', 'http://127.0.0.1:1'], newDirectory());
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1: .+\n$/),
  });
  const program = await startProgram({ config: { ...config, api: { port: 0, token: 'right' } } });
  onTestFinished(async () => void (await program.stop()));
  const url = program.restUrl();
  const refused = await run(['monitor', '--url', url, '--token', 'wrong'], newDirectory());
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Authorization') });
  const { child } = await monitor(url, '--token', 'right');
  child.kill('SIGTERM');
});

it('shows nothing to the terminal that a foreign simulator has hidden in its refusal', async () => {
  let asked = 0;
  const foreign = createServer((_, answer) => {
    if (++asked === 1) {
      // Numbers that begin again: the monitor asks anew for what it missed.
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('id: 5\ndata: []\n\nid: 1\ndata: []\n\n');
    } else {
      const detail = 'busy \u001b]0;owned\u0007 \u202egnp.exe';
      answer.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ detail }));
    }
  });
  await once(foreign.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void foreign.close());
  const url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  const { output } = await monitor(url);
  onTestFinished(() => foreign.closeAllConnections());
  await vi.waitFor(() => expect(output.error).toContain('busy ?]0;owned? ?gnp.exe; waiting'), LIMIT);
});

it('ends when its output is lost, as on a full disk', async () => {
  const program = await start();
  await ask(program, 'bench');
  const command = `"${process.execPath}" "${join(dist, 'main.js')}" monitor --last 1 --url ${program.restUrl()} > /dev/full`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(1);
});
