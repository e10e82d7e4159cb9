import {
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StateFiles } from '../../../src/cli/service/state/state-files.js';
import { stateDirectory } from './kept.js';

it('one program at a time has a directory, and one in the same process counts', async () => {
  const directory = stateDirectory();
  const first = new StateFiles(directory);
  expect(await first.open()).toEqual({ names: [], note: undefined, ended: undefined, setAside: [] });
  await expect(new StateFiles(directory).open()).rejects.toThrow(
    /^(another program|process \d+) keeps its state there; stop it, or name another directory$/,
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

/** Every file of a directory with its content. */
const contents = (directory: string) =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(directory, name), 'utf8')]);

/** A directory with these files. */
function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = stateDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const KEPT = '{"format":1,"uptime":5,"at":1,"ended":true}';

describe('the directory of a state', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'of a bench',
      { 'bench.json': '{"devices":{}}', 'thesis.tmp': 'years' },
      /bench\.json is not a state file/,
    ],
    ['of a thesis', { 'thesis.tmp': 'years' }, /has other files in it \(thesis\.tmp\)/],
    ['of many things', { a: '', b: '', c: '', d: '' }, /\(a, b, c, …\)/],
    [
      'with a foreign file among its own',
      { 'clock.json': KEPT, 'bench.json': 'lines: {}' },
      /bench\.json is not/,
    ],
    [
      'with a foreign unfinished file',
      { 'clock.json': KEPT, 'bench.json.tmp': '{"mine":1}' },
      /bench\.json\.tmp is/,
    ],
    ['with an empty file alone', { 'bench.json': '' }, /bench\.json is not a state file/],
  ])('%s is refused, and nothing in it is touched', async (_, files, reason) => {
    const directory = directoryWith(files);
    const before = contents(directory);
    const state = new StateFiles(directory);
    await expect(state.open()).rejects.toThrow(reason);
    await state.started();
    expect(contents(directory)).toEqual(before);
    // The lock is released.
    await expect(new StateFiles(directory).open()).rejects.toThrow(reason);
  });

  it('may have traffic files, folders and hidden files beside the state, which are left alone', async () => {
    const others = { 'traffic-000001.ndjson': '{}', '.gitkeep': '', lock: '1 1' };
    const directory = directoryWith(others);
    mkdirSync(join(directory, 'usb-1'));
    const files = new StateFiles(directory);
    expect((await files.open()).names).toEqual([]);
    await files.close();
    expect(contents(directory)).toMatchObject(expect.arrayContaining(Object.entries(others)));
  });

  it('that an earlier version has left is read, also with files of others in it; only what it left unfinished goes', async () => {
    const device = 'device-meter-0123abcd.json';
    const written = {
      'bench.json': '{\n "format": 1,',
      'clock.json': KEPT,
      [device]: '{"sum":"',
      start: '0123\n',
      'notes.tmp': 'mine',
      'notes.json': 'mine, too',
      'device-list.json': '[]',
    };
    const directory = directoryWith({ ...written, [`${device}.tmp`]: '{"sum":"00' });
    const files = new StateFiles(directory);
    expect([...(await files.open()).names].sort()).toEqual(['bench.json', 'clock.json', device]);
    await files.close();
    expect(Object.fromEntries(contents(directory))).toEqual({
      ...written,
      'modbus-sim-state.json': expect.stringContaining('"ended":0'),
    });
  });

  it('that the service manager has made may have files of others', async () => {
    const directory = directoryWith({ 'notes.txt': 'mine' });
    const files = new StateFiles(directory);
    expect((await files.open(true)).names).toEqual([]);
    await files.close();
    expect(contents(directory)).toContainEqual(['notes.txt', 'mine']);
  });

  it('does not lose what somebody puts there meanwhile: it is not written over and not removed', async () => {
    const directory = stateDirectory();
    const files = new StateFiles(directory);
    await files.open();
    const path = join(directory, 'bench.json');
    writeFileSync(path, '{"devices":{}}');
    await expect(files.write('bench.json', ['{"a":1}'])).rejects.toThrow(`${path} is not a state file`);
    await expect(files.remove('bench.json')).rejects.toThrow(path);
    symlinkSync(path, join(directory, 'clock.json.tmp'));
    await expect(files.write('clock.json', ['{"a":1}'])).rejects.toThrow('clock.json.tmp is not');
    expect(readFileSync(path, 'utf8')).toBe('{"devices":{}}');
    await files.close();
  });
});

describe('starts that end', () => {
  /** A start that is killed: its files are not closed. Another process would hold the lock until its end. */
  async function killed(directory: string): Promise<string | undefined> {
    const files = new StateFiles(directory);
    const { ended } = await files.open();
    await files.release();
    return ended;
  }

  it('are counted, and one that succeeds sets the count to 0', async () => {
    const directory = directoryWith({ 'clock.json': KEPT });
    expect([await killed(directory), await killed(directory)]).toEqual([undefined, undefined]);
    const good = new StateFiles(directory);
    expect((await good.open()).ended).toBeUndefined();
    await good.close();
    const ends = [];
    for (let i = 0; i < 4; i++) ends.push(await killed(directory));
    expect(ends).toEqual([
      undefined,
      undefined,
      undefined,
      'the program was killed during its last 3 starts with this state',
    ]);
  });

  it('do not count when they succeed on a disk that has become full meanwhile', async () => {
    const directory = directoryWith({ 'clock.json': KEPT });
    for (let i = 0; i < 4; i++) {
      let isFull = false;
      const open = ((...args: Parameters<typeof promises.open>) =>
        isFull ? Promise.reject(new Error('ENOSPC')) : promises.open(...args)) as typeof promises.open;
      const files = new StateFiles(directory, { ...promises, open });
      expect((await files.open()).ended).toBeUndefined();
      isFull = true;
      await files.started();
      await files.close();
    }
  });

  it.each([
    [
      'a full heap',
      { header: { event: 'Allocation failed - JavaScript heap out of memory' } },
      /heap out of memory/,
    ],
    [
      'an exception',
      { header: { event: 'Exception' }, javascriptStack: { message: 'Error: no' } },
      /: Error: no$/,
    ],
  ])('by %s set the state aside at once, in a folder that is a state again', async (_, report, reason) => {
    const directory = directoryWith({ 'clock.json': KEPT, 'modbus-sim-state.json': JSON.stringify(report) });
    const files = new StateFiles(directory);
    const { ended, names } = await files.open();
    expect(ended).toMatch(reason);
    const folder = (await files.setAsideTogether(names, '20260101T000000000Z')) ?? '';
    expect(contents(folder)).toEqual([['clock.json', KEPT]]);
    await files.close();
    const next = new StateFiles(directory);
    expect(await next.open()).toMatchObject({
      names: [],
      ended: undefined,
      setAside: ['ended-20260101T000000000Z'],
    });
    await next.close();
    const again = new StateFiles(folder);
    expect(await again.open()).toMatchObject({ names: ['clock.json'], ended: undefined });
    await again.close();
  });

  it('have the report of Node, which has the environment, in a file for the owner alone', async () => {
    const directory = stateDirectory();
    const usual = { ...process.report };
    const files = new StateFiles(directory);
    await files.open();
    expect(process.report).toMatchObject({
      directory,
      reportOnFatalError: true,
      reportOnUncaughtException: true,
    });
    expect(statSync(join(directory, process.report.filename)).mode & 0o777).toBe(0o600);
    await files.started();
    expect({ ...process.report }).toEqual(usual);
    await files.close();
  });
});
