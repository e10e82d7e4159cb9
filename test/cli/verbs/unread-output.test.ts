import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dist } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();
/** A net for what never comes. */
const LIMIT_MS = 120_000;

const SIM = `'${process.execPath}' '${join(dist, 'main.js')}'`;

/** Runs a pipeline; `SIM` stands for the program. @returns the exit code of the program, and what was printed */
function pipeline(text: string) {
  const command = `set -o pipefail; ${text.replaceAll('SIM', SIM)}; exit \${PIPESTATUS[0]}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  return { code: status, stdout, stderr };
}

/** Twice what a pipe has room for, and as much as an outlet of a log keeps. */
function longTable(): string {
  const rows = Array.from({ length: 6000 }, (_, i) => `holding,${i},uint16,value ${i} of a long table`);
  return newFile(`table,address,type,name\n${rows.join('\n')}\n`, 'long.csv');
}

describe('serve', () => {
  it.each([
    ['whose reader is gone', `exec SIM --config FILE > >(true) 2> >(true)`],
    ['that nobody reads', `exec SIM --config FILE --log debug > >(sleep 60) 2> >(sleep 60)`],
  ])('starts, serves and ends with a pipe %s', async (_, text) => {
    const link = join(newDirectory(), 'bench');
    const lines = { bench: { serial: { path: 'virtual', link }, units: { 1: 'meter' } } };
    const file = newFile({ devices: METER, lines, api: { port: 0 } });
    const command = text.replace('SIM', SIM).replace('FILE', file);
    const program = spawn('bash', ['-c', command], { stdio: 'ignore', detached: true });
    const exited = new Promise((resolve) => program.once('exit', resolve));
    onTestFinished(() => {
      // The readers, too, where there are any left.
      spawnSync('kill', ['-KILL', '--', `-${program.pid}`], { stdio: 'ignore' });
    });
    await vi.waitFor(() => expect(existsSync(link)).toBe(true), { timeout: LIMIT_MS });
    const client = await openRawClient(link);
    for (let i = 0; i < 1000; i++) {
      client.send(readRequest(1, 0));
      expect(await client.receive(readReply(1, 1).length)).toEqual(readReply(1, 1));
    }
    await client.close();
    program.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});

describe('what a command prints', () => {
  it('comes to its end, however slowly it is read', () => {
    const { code, stdout } = pipeline(`SIM import ${longTable()} | (sleep 1; wc -c)`);
    expect(code).toBe(0);
    expect(Number(stdout)).toBeGreaterThan(256 * 1024);
  });

  it.each(['import FILE', 'catalogue', 'test-client --list', '--help'])(
    'may be left unread: %s | head -1 ends without a word',
    (args) => {
      const { stdout, stderr } = pipeline(`SIM ${args.replace('FILE', longTable())} | head -1`);
      expect(stdout).not.toBe('');
      expect(stderr).not.toMatch(/EPIPE|Error|^ +at /m);
    },
  );

  it('fails where it can not be written, and says why', () => {
    expect(pipeline('SIM catalogue > /dev/full')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^standard output: ENOSPC.*\n$/),
    });
  });
});

describe('a run whose output nobody reads any more', () => {
  const scenario = () =>
    newFile({
      name: 'two waits',
      devices: METER,
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      steps: [
        { name: 'one', wait: 200 },
        { name: 'two', wait: 200 },
        { name: 'three', wait: 3_600_000 },
      ],
    });

  it.each([
    ['test', () => `SIM test ${scenario()} | true`],
    [
      'test-client',
      () => {
        const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
        return `SIM test-client lan --config ${newFile({ devices: METER, lines })} --limit 2s | true`;
      },
    ],
  ])('%s ends without a word, as if it was asked to stop', (_, text) => {
    expect(pipeline(text())).toEqual({ code: 2, stdout: '', stderr: '' });
  });
});
