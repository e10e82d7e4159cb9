import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { StateFiles } from '../../../src/cli/service/state/state-files.js';
import { stateDirectory } from './kept.js';

it('one program at a time has a directory, and one in the same process counts', async () => {
  const directory = stateDirectory();
  const first = new StateFiles(directory);
  expect(await first.open()).toEqual({ names: [], note: undefined, hasEnded: false });
  await expect(new StateFiles(directory).open()).rejects.toThrow(
    /^(another program|process \d+) keeps its state there; end it, or name another directory$/,
  );
  await first.close();
  const next = new StateFiles(directory);
  await next.open();
  await next.close();
});

it('of 8 programs that start at once on the directory of a killed one, one has it', async () => {
  const directory = stateDirectory();
  // What version 0.1 and a development version have left.
  writeFileSync(join(directory, 'lock'), '1 1\n');
  const all = Array.from({ length: 8 }, () => new StateFiles(directory));
  const opened = await Promise.allSettled(all.map((files) => files.open()));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await Promise.all(all.map((files) => files.close()));
});

it('a file system that makes no directories is an error', async () => {
  await expect(new StateFiles('/proc/modbus-sim/state').open()).rejects.toThrow(/ENOENT.*\/proc\/modbus-sim/);
});

it('directories above it are made, too', async () => {
  const files = new StateFiles(join(stateDirectory(), 'one', 'two'));
  expect((await files.open()).names).toEqual([]);
  await files.close();
});

it('what is no file of a state, or never ends, is not read', async () => {
  const directory = stateDirectory();
  const files = new StateFiles(directory);
  mkdirSync(join(directory, 'device-a.json'));
  symlinkSync('/proc/self/pagemap', join(directory, 'device-b.json'));
  expect(await files.read('device-a.json')).toEqual({ problem: expect.stringMatching(/./) });
  const before = process.memoryUsage().rss;
  expect(await files.read('device-b.json')).toEqual({ problem: 'is too large: more than 33554432 bytes' });
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
});
