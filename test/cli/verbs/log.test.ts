import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/cli/verbs/log.js';
import { hex } from '../../../src/modbus/protocol/bytes.js';
import { dist, type RunningProgram, startProgram } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER, VIRTUAL_LINE } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const start = (...args: string[]) =>
  startProgram({ config: { devices: METER, lines: { bench: VIRTUAL_LINE } }, args });

async function askOnce(program: RunningProgram) {
  const client = await openRawClient(program.serialPath('bench'));
  client.send(readRequest(1, 0));
  const reply = readReply(1, 1);
  expect(await client.receive(reply.length)).toEqual(reply);
  await client.close();
}

const messages = (log: string) =>
  log
    .trim()
    .split('\n')
    .map((entry) => (JSON.parse(entry) as { msg: string }).msg);

/** What standard output has, whatever is logged. */
const ANNOUNCEMENTS = [
  expect.stringMatching(/^line bench: RTU on \/dev\/pts\/\d+ /),
  expect.stringMatching(/^REST on http:/),
  'ready',
];

describe('the log', () => {
  it('is one JSON object a line on standard error; standard output is for people', async () => {
    const program = await start('--log', 'debug');
    await askOnce(program);
    expect(await program.stop()).toBe(0);
    expect(messages(program.output.stderr)).toEqual(
      expect.arrayContaining([
        'line open',
        'request: unit 1 read holding registers 0',
        expect.stringMatching(/^reply: unit 1 /),
      ]),
    );
    expect(program.output.stdout.trim().split('\n')).toEqual(ANNOUNCEMENTS);
  });

  it('on a terminal shows nothing that a name of a file has hidden', async () => {
    const directory = join(newDirectory(), '\u001b]0;owned\u0007\u202egnp.json');
    mkdirSync(directory, { recursive: true });
    // A state that has ended a start: the log names the folder to which it is moved.
    writeFileSync(join(directory, 'modbus-sim-state.json'), '{"header":{}}');
    writeFileSync(join(directory, 'clock.json'), '{"format":1}');
    const file = newFile({ devices: METER, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } });
    const main = join(dist, 'main.js');
    const command = `${process.execPath} ${main} --config ${file} --http_port 0 --state '${directory}'`;
    // script(1) gives the program a terminal.
    const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    // Standard error may lag behind standard output.
    await expect.poll(() => shown).toMatch(/^(?=.*ready)(?=.*owned\?\?gnp\.json)/s);
    child.kill('SIGTERM');
    await ended;
    for (const hidden of ['\u202e', '\u001b]0;']) expect(shown).not.toContain(hidden);
  });

  it('names neither process nor host, which whoever collects logs adds', async () => {
    const program = await start();
    expect(await program.stop()).toBe(0);
    const [entry = ''] = program.output.stderr.split('\n');
    expect(Object.keys(JSON.parse(entry) as object)).toEqual([
      'level',
      'time',
      'name',
      'line',
      'place',
      'msg',
    ]);
  });

  it('with --log debug has every frame in it, byte for byte', async () => {
    const program = await start('--log', 'debug');
    await askOnce(program);
    expect(await program.stop()).toBe(0);
    const { stderr } = program.output;
    expect(stderr).toContain(hex(readRequest(1, 0)));
    expect(stderr).toContain(`"bytes":"${hex(readReply(1, 1))}","length":7`);
  });

  it('tells what is done to lines over REST, and what comes of it', async () => {
    const program = await start();
    const url = `${program.restUrl()}/api/v1/lines/bench`;
    const put = (body: object) =>
      fetch(url, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await put({ timing: { turnaround: 20 } })).status).toBe(200);
    expect((await put({ serial: { path: '/dev/ttyNotThere', link: null } })).status).toBe(409);
    expect((await fetch(`${url}/stop`, { method: 'POST' })).status).toBe(200);
    expect((await put({ serial: { path: '/dev/ttyNotThere', link: null } })).status).toBe(200);
    expect((await fetch(`${url}/start`, { method: 'POST' })).status).toBe(409);
    expect(await program.stop()).toBe(0);
    expect(messages(program.output.stderr).filter((text) => text.startsWith('line '))).toEqual([
      'line open',
      'line changed',
      'line not changed',
      'line stopped',
      'line changed',
      'line did not open',
    ]);
  });

  it('has no requests in it unless asked for', async () => {
    const program = await start();
    await askOnce(program);
    expect(await program.stop()).toBe(0);
    expect(messages(program.output.stderr)).toContain('line open');
    expect(program.output.stderr).not.toContain('request');
  });

  it('goes into a file with --log_file, after what is there, and nothing to standard error', async () => {
    const file = join(newDirectory(), 'sim.log');
    for (let round = 0; round < 2; round++) {
      const program = await start('--log_file', file);
      expect(await program.stop()).toBe(0);
      expect(program.output.stderr).toBe('');
    }
    expect(messages(readFileSync(file, 'utf8')).filter((message) => message === 'line open')).toHaveLength(2);
  });

  it.each([
    ['moved, as logrotate does', (file: string) => renameSync(file, `${file}.1`)],
    ['removed', (file: string) => rmSync(file)],
  ])('goes on in a new file when its file is %s', async (_, takeAway) => {
    const file = join(newDirectory(), 'log');
    const log = await createLog({ level: 'info', file });
    if (!log.ok) return expect.fail(log.error);
    log.value.info('before');
    await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 30_000 }).toContain('before');
    takeAway(file);
    const isBack = () => {
      log.value.info('after');
      return existsSync(file);
    };
    await expect.poll(isBack, { timeout: 30_000 }).toBe(true);
    await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 30_000 }).toContain('after');
    expect(readFileSync(file, 'utf8')).not.toContain('before');
  });

  it('on a full disk loses its entries, tells it once, and the program goes on', async () => {
    const program = await start('--log', 'debug', '--log_file', '/dev/full');
    await askOnce(program);
    expect(await program.stop()).toBe(0);
    expect(program.output.stderr).toMatch(/^log entries are lost: ENOSPC.*\n$/);
  });

  it('in a file that can not be written is an error that names it', async () => {
    await expect(start('--log_file', '/nowhere/sim.log')).rejects.toThrow(
      /ended with 1 before it was ready\n--log_file \/nowhere\/sim\.log: ENOENT/,
    );
  });
});
