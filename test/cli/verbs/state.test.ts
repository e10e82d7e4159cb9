import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const CONFIG = {
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2], write: true }] } } },
  lines: { lan: TCP_LINE },
};

type Program = Awaited<ReturnType<typeof startProgram>>;

async function start(config: object, options: { args?: string[]; env?: Record<string, string> } = {}) {
  const program = await startProgram({ config, ...options });
  onTestFinished(async () => void (await program.stop()));
  return program;
}

async function rest(program: Program, path: string, method = 'GET', body?: unknown): Promise<unknown> {
  const answer = await fetch(`${program.restUrl()}/api/v1/${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? undefined : answer.json();
}

const put = (program: Program, value: number) =>
  rest(program, 'devices/meter/registers', 'PATCH', { changes: [{ table: 'holding', address: 0, value }] });

async function value(program: Program): Promise<number> {
  const answer = (await rest(program, 'devices/meter/registers?table=holding&from=0&to=0')) as {
    registers: { value: number }[];
  };
  return answer.registers[0]?.value as number;
}

it('of one program is not used by a second one meanwhile, and is by the next', async () => {
  const directory = newDirectory();
  const config = { devices: METER, lines: { lan: TCP_LINE } };
  const first = await startProgram({ config, args: ['--state', directory] });
  await expect(startProgram({ config, args: ['--state', directory] })).rejects.toThrow(
    new RegExp(`process ${first.pid} keeps its state there; stop it, or name another directory`),
  );
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  // The lock has gone with the program that was killed.
  const next = await startProgram({ config, args: ['--state', directory] });
  expect(await next.stop()).toBe(0);
});

describe('state: keep', () => {
  const config = { ...CONFIG, state: 'keep' };

  it('needs a directory, and says so; check does not', async () => {
    const file = newFile(config);
    const ended = await run(['--config', file], newDirectory());
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `${file}: state: keep needs a directory; start with --state DIR, or as a service with StateDirectory=\n`,
    });
    expect((await run(['check', file], newDirectory())).code).toBe(0);
  });

  it("in a directory that can't be made is a sentence", async () => {
    const { code, stderr } = await run(
      ['--state', join(newFile(config), 'state'), '--config', newFile(config)],
      newDirectory(),
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^the state directory can't be used: ENOTDIR/),
    });
  });

  it('keeps values, rules and settings over SIGTERM, in the STATE_DIRECTORY of a service', async () => {
    const env = { STATE_DIRECTORY: join(newDirectory(), 'state') };
    const before = await start(config, { env });
    await put(before, 77);
    await rest(before, 'faults', 'POST', { name: 'slow', when: {}, do: [{ delay: 5 }] });
    await rest(before, 'lines/lan', 'PUT', { missingUnit: 'silence' });
    expect(await before.stop()).toBe(0);
    const after = await start(config, { env });
    expect(await value(after)).toBe(77);
    expect(await rest(after, 'faults')).toMatchObject({ faults: [{ name: 'slow' }] });
    expect(await rest(after, 'lines/lan')).toMatchObject({ settings: { missingUnit: 'silence' } });
    expect(after.output.stdout).toContain(`state in ${env.STATE_DIRECTORY}: 1 device and 1 line restored`);
  });

  it('keeps what changed last, however slow its disk and its REST thread are', async () => {
    const hook = join(newDirectory(), 'hook.cjs');
    // A disk that takes longer for a file than a stop otherwise lasts, and a thread that does not end by itself.
    writeFileSync(
      hook,
      `const { promises } = require('node:fs');
       const { rename } = promises;
       promises.rename = (...args) =>
         new Promise((resolve) => setTimeout(resolve, 2000)).then(() => rename(...args));
       const { parentPort } = require('node:worker_threads');
       parentPort?.on('message', ({ kind }) => {
         if (kind === 'end') for (const end = performance.now() + 2000; performance.now() < end; );
       });`,
    );
    const args = ['--state', newDirectory()];
    const before = await start(config, { args, env: { NODE_OPTIONS: `--require ${hook}` } });
    await put(before, 4711);
    expect(await before.stop()).toBe(0);
    expect(await value(await start(config, { args }))).toBe(4711);
  });

  it('with --state keeps it whatever the file says; without either nothing is kept', async () => {
    const args = ['--state', newDirectory()];
    const before = await start(CONFIG, { args });
    await put(before, 5);
    await before.stop();
    expect(await value(await start(CONFIG, { args }))).toBe(5);
    const env = { STATE_DIRECTORY: newDirectory() };
    const other = await start(CONFIG, { env });
    await put(other, 5);
    await other.stop();
    expect(readdirSync(env.STATE_DIRECTORY)).toEqual([]);
  });

  it('is written while the program runs, and is readable however often it is killed', async () => {
    const directory = newDirectory();
    const args = ['--state', directory];
    /** The first register, as a kill would leave it. */
    const onDisk = () => {
      const name = readdirSync(directory).find((each) => /^device-meter-.*\.json$/.test(each));
      const [, words = ''] =
        /\[0,"([^"]+)"/.exec(name ? readFileSync(join(directory, name), 'utf8') : '') ?? [];
      return words === '' ? 1 : Buffer.from(words, 'base64').readUInt16LE();
    };
    let [kept, last] = [1, 1];
    for (let turn = 0; turn < 4; turn++) {
      const program = await start(config, { args });
      const found = await value(program);
      // A newer one may have been written between the look and the kill.
      expect(found).toBeGreaterThanOrEqual(kept);
      expect(found).toBeLessThanOrEqual(last);
      last = found;
      const until = performance.now() + 200 + 650 * turn;
      while (performance.now() < until || onDisk() === found) {
        await put(program, ++last);
        await delay(5);
      }
      kept = onDisk();
      process.kill(program.pid, 'SIGKILL');
      await program.exited;
      expect(program.output.stderr).not.toContain('set aside');
    }
  });
});

describe('start: waiting', () => {
  const missing = (path: string) => ({ serial: { path }, units: { 1: 'meter' } });

  it('a missing adapter ends a program that says nothing about it', async () => {
    const lines = { lan: TCP_LINE, bench: missing('/dev/modbus-sim-missing') };
    const { code, stderr } = await run(
      ['--config', newFile({ ...CONFIG, lines, api: { port: 0 } })],
      newDirectory(),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^line bench: /m) });
  });

  it('for all lines of a file: the program serves, says so once, and opens the line when it can', async () => {
    const path = join(newDirectory(), 'ttyUSB0');
    const lines = { lan: TCP_LINE, bench: missing(path) };
    const program = await start({ devices: METER, lines, start: 'waiting' });
    expect(program.output.stdout).toMatch(/^line bench: RTU on .*; not open yet, waiting: .*ttyUSB0/m);
    expect(await rest(program, 'lines/bench')).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining(path),
      settings: { start: 'waiting' },
    });
    const told = () => program.output.stderr.match(/line did not open, waiting until it does/g) ?? [];
    await expect.poll(told).toHaveLength(1);
    await delay(2000);
    expect(told()).toHaveLength(1);
    const other = await start({
      devices: METER,
      lines: { v: { serial: { path: 'virtual' }, units: { 1: 'meter' } } },
    });
    symlinkSync(other.serialPath('v'), path);
    await expect.poll(() => rest(program, 'lines/bench')).toMatchObject({ state: 'open' });
  });

  it('a TCP line waits for its port', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const lan = { tcp: { port }, units: { 1: 'meter' }, start: 'waiting' };
    const program = await start({ devices: METER, lines: { lan } });
    expect(await rest(program, 'lines/lan')).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('another program, or another line, has this port'),
    });
    holder.close();
    await expect.poll(() => rest(program, 'lines/lan')).toMatchObject({ state: 'open' });
  });

  it('measure does not wait', async () => {
    const lines = { bench: missing('/dev/modbus-sim-missing') };
    const file = newFile({ ...CONFIG, lines, start: 'waiting' });
    const { code, stderr } = await run(['measure', 'bench', '--config', file], newDirectory());
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('modbus-sim-missing') });
  });
});

describe('a state on a disk', () => {
  it('in a folder with a bench of somebody is refused, and nothing there is touched', async () => {
    const directory = newDirectory();
    mkdirSync(directory, { recursive: true });
    const config = JSON.stringify({ ...CONFIG, api: { port: 0 } });
    writeFileSync(join(directory, 'bench.json'), config);
    writeFileSync(join(directory, 'thesis.tmp'), 'years of work');
    const ended = await run(['--config', join(directory, 'bench.json'), '--state', directory], '.');
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(join(directory, 'bench.json')) });
    expect(readdirSync(directory).sort()).toEqual(['bench.json', 'thesis.tmp']);
    expect(readFileSync(join(directory, 'bench.json'), 'utf8')).toBe(config);
  });

  it('that is damaged is set aside, and the program serves', async () => {
    const directory = newDirectory();
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'bench.json'), '{"format":1,');
    const program = await start(CONFIG, { args: ['--state', directory] });
    expect(program.output.stdout).toContain('1 file set aside (see the log)');
    const files = readdirSync(directory);
    expect(files).toEqual([
      expect.stringMatching(/^bench\.json\.damaged-\d{8}T\d{9}Z$/),
      'modbus-sim-state.json',
    ]);
    await expect.poll(() => program.output.stderr).toContain('state set aside: not JSON');
  });
});

describe('a program with a heap of 256 MB', () => {
  const options = { env: { NODE_OPTIONS: '--max-old-space-size=256' } };
  const greedy = (name: string) => ({
    name,
    registers: {
      holding: Array.from({ length: 40 }, (_, i) => ({
        address: i,
        signal: { expression: `1${'+t'.repeat(110)}` },
      })),
    },
  });

  it('outlives 215 greedy devices over REST, and starts again with those that it took', async () => {
    const directory = newDirectory();
    const args = ['--state', directory];
    const first = await startProgram({ config: CONFIG, args, ...options });
    let taken = 0;
    for (let i = 0; i < 215; i++) {
      const answer = await fetch(`${first.restUrl()}/api/v1/devices`, {
        method: 'POST',
        body: JSON.stringify(greedy(`greedy-${i}`)),
        headers: { 'content-type': 'application/json' },
      });
      if (answer.status === 201) taken++;
      else expect(await answer.json()).toMatchObject({ status: 409, code: 'memory.spent' });
    }
    expect(taken).toBeGreaterThan(20);
    expect(await first.stop()).toBe(0);
    const next = await startProgram({ config: CONFIG, args, ...options });
    expect(await rest(next, 'devices')).toMatchObject({ devices: { length: taken + 1 } });
    expect(await next.stop()).toBe(0);
  });

  /** A state with 4711 in the first register. */
  async function withState(): Promise<{ directory: string; args: string[] }> {
    const directory = newDirectory();
    const args = ['--state', directory];
    const first = await startProgram({ config: CONFIG, args });
    await put(first, 4711);
    expect(await first.stop()).toBe(0);
    return { directory, args };
  }

  /** What a program does once it has noted its start. */
  function doing(what: string): Record<string, string> {
    const hook = join(newDirectory(), 'hook.cjs');
    writeFileSync(
      hook,
      `const { promises } = require('node:fs');
       const { rename } = promises;
       promises.rename = async (from, to) => {
         await rename(from, to);
         if (to.endsWith('modbus-sim-state.json')) setTimeout(() => { ${what} });
       };`,
    );
    return { NODE_OPTIONS: `--require ${hook} --max-old-space-size=80` };
  }

  const startOnce = (args: string[], env: Record<string, string>) =>
    run(['--config', newFile(CONFIG), ...args, '--http_port', '0'], newDirectory(), env);

  it('keeps a state in whose start it was killed twice; after the third time it begins without it, and offers it', async () => {
    const { directory, args } = await withState();
    const kill = doing("process.kill(process.pid, 'SIGKILL')");
    for (let i = 0; i < 2; i++) expect((await startOnce(args, kill)).code).not.toBe(0);
    const good = await startProgram({ config: CONFIG, args });
    expect(await value(good)).toBe(4711);
    expect(await good.stop()).toBe(0);
    for (let i = 0; i < 3; i++) expect((await startOnce(args, kill)).code).not.toBe(0);
    const without = await startProgram({ config: CONFIG, args });
    expect(await value(without)).not.toBe(4711);
    await expect
      .poll(() => without.output.stderr)
      .toContain('the program was killed during its last 3 starts with this state');
    const [folder = ''] = readdirSync(directory).filter((name) => /^ended-\d{8}T\d{9}Z$/.test(name));
    const offer = `${join(directory, folder)} has a state that was set aside. To use it again, stop the program and move its files to ${directory}`;
    await expect.poll(() => without.output.stderr).toContain(offer);
    expect(await without.stop()).toBe(0);
    const later = await startProgram({ config: CONFIG, args });
    await expect.poll(() => later.output.stderr).toContain(offer);
    expect(await later.stop()).toBe(0);
    const again = await startProgram({ config: CONFIG, args: ['--state', join(directory, folder)] });
    expect(await value(again)).toBe(4711);
    expect(await again.stop()).toBe(0);
  });

  it.each([
    ['a full heap', 'const all = []; for (;;) all.push(new Array(1000).fill(1.5));', 'heap out of memory'],
    ['an exception', "throw new Error('a defect')", 'Error: a defect'],
  ])('begins without a state whose start %s has ended, and says so', async (_, what, reason) => {
    const { directory, args } = await withState();
    expect((await startOnce(args, doing(what))).code).not.toBe(0);
    const next = await startProgram({ config: CONFIG, args });
    expect(await value(next)).not.toBe(4711);
    await expect
      .poll(() => next.output.stderr)
      .toContain(`the program crashed when it last started with this state: `);
    expect(next.output.stderr).toContain(reason);
    expect(readdirSync(directory)).toContainEqual(expect.stringMatching(/^ended-\d{8}T\d{9}Z$/));
    expect(await next.stop()).toBe(0);
  });

  it('keeps a state in whose start the program was stopped', async () => {
    const directory = newDirectory();
    const args = ['--state', directory];
    const first = await startProgram({ config: CONFIG, args });
    await put(first, 4711);
    expect(await first.stop()).toBe(0);
    // A start that takes longer than a stop waits.
    const hook = join(newDirectory(), 'hook.cjs');
    writeFileSync(
      hook,
      `const { promises } = require('node:fs');
       const { readdir } = promises;
       promises.readdir = (...args) => {
         process.kill(process.pid, 'SIGTERM');
         return new Promise((resolve) => setTimeout(resolve, 5000)).then(() => readdir(...args));
       };`,
    );
    const env = { NODE_OPTIONS: `--require ${hook}` };
    const second = await run(['--config', newFile(CONFIG), ...args, '--http_port', '0'], '.', env);
    expect(second.code).toBe(0);
    const next = await startProgram({ config: CONFIG, args });
    expect(await value(next)).toBe(4711);
    expect(await next.stop()).toBe(0);
  });

  it('keeps a state in whose start a port was not free', async () => {
    const directory = newDirectory();
    const args = ['--state', directory];
    const first = await startProgram({ config: CONFIG, args });
    await put(first, 4711);
    const { port } = new URL(first.restUrl());
    const second = await run(
      ['--config', newFile(CONFIG), '--http_port', port, '--state', newDirectory()],
      '.',
    );
    expect(second.code).toBe(1);
    expect(await first.stop()).toBe(0);
    const next = await startProgram({ config: CONFIG, args });
    expect(await value(next)).toBe(4711);
    expect(await next.stop()).toBe(0);
  });
});
