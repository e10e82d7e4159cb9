import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dist } from '../../support/program.mjs';
import { lineOn, METER, TCP_LINE } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

/**
 * Runs the program with a standard error that is called the journal's. @returns what it wrote there, line by line
 * @param untilSaid ends it when this is on standard output; undefined where it ends by itself
 */
async function entriesOf(args: readonly string[], untilSaid?: string): Promise<string[]> {
  const directory = newDirectory();
  const journal = join(directory, 'journal');
  const descriptor = openSync(journal, 'w');
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  const child = spawn(process.execPath, [join(dist, 'main.js'), ...args], {
    env: { ...process.env, TMPDIR: directory, JOURNAL_STREAM: `${dev}:${ino}` },
    stdio: ['ignore', 'pipe', descriptor],
  });
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (untilSaid !== undefined && said.includes(untilSaid)) child.kill('SIGTERM');
  });
  await new Promise((resolve) => child.once('close', resolve));
  closeSync(descriptor);
  return readFileSync(journal, 'utf8').trimEnd().split('\n');
}

const config = (more: object) =>
  newFile({ devices: METER, lines: { lan: TCP_LINE }, api: { port: 0 }, ...more });

describe('in the journal of systemd', () => {
  it('an entry is its priority, a sentence, and the fields behind it', async () => {
    const lines = { lan: TCP_LINE, bench: { ...lineOn('/dev/ttyNowhere'), start: 'waiting' } };
    const entries = await entriesOf(['--config', config({ lines })], 'ready');
    expect(entries).toContainEqual(expect.stringMatching(/^<6>lan: line open place=127\.0\.0\.1:\d+$/));
    expect(entries).toContain(
      "<4>bench: line did not open, waiting until it does reason='/dev/ttyNowhere: does not exist; modbus-sim ports lists the serial ports'",
    );
    expect(entries.filter((entry) => !/^<[2-7]>\S/.test(entry))).toEqual([]);
  });

  it('each mistake of a file is an error, and each warning a warning', async () => {
    const wrong = await entriesOf(['--config', newFile('lines: 7')]);
    expect(wrong.map((entry) => entry.slice(0, 3))).toEqual(['<3>', '<3>']);
    const [warning] = await entriesOf(['check', config({ api: { port: 0, token: 'short' } })]);
    expect(warning).toMatch(
      /^<4>.*: warning: api\.token: a token of fewer than 16 characters can be guessed/,
    );
  });

  it('what is given can not choose the priority of an entry', async () => {
    expect(await entriesOf(['--config', 'a\n<0>b'])).toEqual(['<3>a', '<3><0>b: no such file']);
  });

  it('a log in a file is JSON as ever, and what is printed has its priority', async () => {
    const file = join(newDirectory(), 'sim.log');
    writeFileSync(file, '');
    expect(await entriesOf(['--config', config({}), '--log_file', file], 'ready')).toEqual(['']);
    expect(readFileSync(file, 'utf8')).toMatch(/^\{"level":30,/);
  });
});
