import { promises, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FileSystem } from '../../../src/cli/service/state/state-files.js';
import type { Device } from '../../../src/device/device.js';
import { deviceStateText } from '../../../src/simulator/state/device-state.js';
import { tries } from '../../support/tries.js';
import { filesIn, type KeptSimulator, keep, stateDirectory } from './kept.js';

const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
const still = (quantity: number) => ({
  registers: { holding: [{ address: 0, value: 0, quantity, write: true }] },
});
const MOVING = {
  registers: { input: [{ address: 0, type: 'uint32', signal: { counter: { perSecond: 1 } } }] },
};
const CONTENT = { devices: { meter: still(10) }, lines };

function imageOf({ simulator }: KeptSimulator, name = 'meter') {
  const device = simulator.devices.get(name);
  if (!device) throw new Error('no device');
  return device.tables.holding.window.image;
}

const written = (directory: string) =>
  filesIn(directory).map((name) => `${name} ${statSync(join(directory, name)).mtimeMs}`);

/** A file system whose disk is full while `full()`. */
function disk(full: () => boolean): { fs: FileSystem; opened: string[] } {
  const opened: string[] = [];
  const fs: FileSystem = {
    ...promises,
    open: async (path, flags, mode) => {
      if (flags === 'w' && !String(path).includes('modbus-sim-state')) opened.push(String(path));
      const file = await promises.open(path, flags, mode);
      if (flags === 'w') {
        const writeFile = file.writeFile.bind(file);
        file.writeFile = async (...args) => {
          if (full()) throw new Error('ENOSPC: no space left on device, write');
          return writeFile(...args);
        };
      }
      return file;
    },
  };
  return { fs, opened };
}

describe('the text of a device', () => {
  it('comes in short pieces, however much was changed', async () => {
    const kept = await keep({ devices: { meter: still(65536) }, lines }, stateDirectory());
    const image = imageOf(kept);
    for (let cell = 0; cell < 65536; cell++) image.setWord(cell, cell);
    const device = kept.simulator.devices.get('meter') as Device;
    const definition = kept.simulator.definitionOf('meter');
    const pieces = [...deviceStateText({ definition, device }, 0)];
    for (const piece of pieces) expect(piece.length).toBeLessThan(2048);
    expect(JSON.parse(pieces.join(''))).toMatchObject({ device: 'meter' });
    expect(pieces.length).toBeGreaterThan(64);
  });
});

describe('the keeper of the state', () => {
  it('writes nothing while nothing changes, also where the same value is written again and again', async () => {
    const directory = stateDirectory();
    const times = { now: 0, uptime: 0 };
    const kept = await keep(CONTENT, directory, { times });
    await kept.keeper.begin();
    onTestFinished(() => kept.keeper.end());
    imageOf(kept).setWord(0, 5);
    await expect.poll(() => filesIn(directory)).toEqual([expect.stringMatching(/^device-.*\.json$/)]);
    const before = written(directory);
    for (let i = 0; i < 10; i++) {
      times.uptime += 1000;
      imageOf(kept).setWord(0, 5);
      await delay(50);
    }
    expect(written(directory)).toEqual(before);
  });

  it('writes at most once a second, however much changes', async () => {
    const directory = stateDirectory();
    const { fs, opened } = disk(() => false);
    const times = { now: 0, uptime: 0 };
    const kept = await keep(CONTENT, directory, { fs, times });
    await kept.keeper.begin();
    onTestFinished(() => kept.keeper.end());
    imageOf(kept).setWord(0, 40);
    await expect.poll(() => opened.length).toBe(1);
    for (let i = 1; i < 40; i++) {
      imageOf(kept).setWord(0, i);
      await delay(10);
      times.uptime = i * 10;
    }
    expect(opened).toHaveLength(1);
    times.uptime = 2000;
    await expect.poll(() => opened.length).toBe(2);
  });

  it('tells of a full disk once, goes on trying, and tells when it has room again', async () => {
    const directory = stateDirectory();
    let isFull = false;
    const { fs } = disk(() => isFull);
    const times = { now: 0, uptime: 0 };
    const kept = await keep(CONTENT, directory, { fs, times });
    imageOf(kept).setWord(0, 1);
    await kept.keeper.end();
    const [name] = filesIn(directory);
    const good = readFileSync(join(directory, name ?? ''), 'utf8');
    isFull = true;
    imageOf(kept).setWord(0, 2);
    for (let i = 0; i < 3; i++) await kept.keeper.end();
    expect(kept.warnings).toEqual(["the state can't be written; changes made now are lost at a restart"]);
    expect(filesIn(directory)).toEqual([name]);
    expect(readFileSync(join(directory, name ?? ''), 'utf8')).toBe(good);
    isFull = false;
    await kept.keeper.end();
    const after = await keep(CONTENT, directory);
    expect(imageOf(after).wordAt(0)).toBe(2);
  });

  it('forgets a device that was removed, and what is as in the file again', async () => {
    const directory = stateDirectory();
    const kept = await keep(CONTENT, directory);
    const { simulator } = kept;
    await simulator.changes.createDevice('extra', still(3));
    imageOf(kept, 'extra').setWord(0, 1);
    await kept.keeper.end();
    expect(filesIn(directory)).toEqual(['bench.json', expect.stringMatching(/^device-extra-/)]);
    await simulator.changes.removeDevice('extra');
    await kept.keeper.end();
    expect(filesIn(directory)).toEqual([]);
  });

  it('has nothing of a device for another one of its name that came in its place at once', async () => {
    const directory = stateDirectory();
    const kept = await keep(CONTENT, directory);
    const { simulator } = kept;
    await simulator.changes.createDevice('extra', still(3));
    imageOf(kept, 'extra').setWord(0, 4711);
    await kept.keeper.end();
    await simulator.changes.removeDevice('extra');
    await simulator.changes.createDevice('extra', still(3));
    await kept.keeper.end();
    const after = await keep(CONTENT, directory);
    expect(imageOf(after, 'extra').wordAt(0)).toBe(0);
    expect(after.warnings).toEqual([]);
  });

  it.each(['each file', 'the directory'])(
    'writes again what nobody changes when %s was removed',
    async (what) => {
      const directory = stateDirectory();
      const content = { ...CONTENT, devices: { ...CONTENT.devices, wave: MOVING } };
      const kept = await keep(content, directory);
      await kept.simulator.changes.createDevice('extra', still(3));
      imageOf(kept).setWord(0, 4711);
      imageOf(kept, 'extra').setWord(0, 4712);
      await kept.keeper.end();
      const before = filesIn(directory);
      expect(before).toEqual([
        'bench.json',
        'clock.json',
        ...['extra', 'meter', 'wave'].map((name) => expect.stringMatching(`^device-${name}-`)),
      ]);
      if (what === 'the directory') rmSync(directory, { recursive: true });
      else for (const name of before) rmSync(join(directory, name));
      await kept.keeper.end();
      expect(filesIn(directory)).toEqual(before);
      // Also where they were restored, and nobody has changed anything since.
      const next = await keep(content, directory);
      for (const name of before) rmSync(join(directory, name));
      await next.keeper.end();
      expect(filesIn(directory)).toEqual(before);
      const after = await keep(content, directory);
      expect([imageOf(after).wordAt(0), imageOf(after, 'extra').wordAt(0)]).toEqual([4711, 4712]);
    },
  );

  it('looks once a minute whether its files are there, and writes those that are not', async () => {
    const directory = stateDirectory();
    const times = { now: 0, uptime: 0 };
    const kept = await keep(CONTENT, directory, { times });
    imageOf(kept).setWord(0, 1);
    await kept.keeper.begin();
    onTestFinished(() => kept.keeper.end());
    await expect.poll(() => filesIn(directory)).toHaveLength(1);
    for (const name of filesIn(directory)) rmSync(join(directory, name));
    times.uptime = 60_001;
    await expect.poll(() => filesIn(directory)).toHaveLength(1);
  });

  it('notes a running clock once a minute', async () => {
    const directory = stateDirectory();
    const { fs, opened } = disk(() => false);
    const times = { now: 0, uptime: 0 };
    const kept = await keep({ devices: { meter: MOVING }, lines }, directory, { fs, times });
    await kept.keeper.begin();
    onTestFinished(() => kept.keeper.end());
    await expect.poll(() => opened.length).toBe(2);
    times.uptime = 59_000;
    await delay(300);
    expect(opened).toHaveLength(2);
    times.uptime = 60_001;
    await expect.poll(() => opened.length).toBe(4);
  });

  it('keeps many devices with 65,536 changed registers each', async () => {
    const directory = stateDirectory();
    const count = tries(247);
    const units = { [`1-${count}`]: { copyOf: 'meter' } };
    const content = { devices: { meter: still(65536) }, lines: { lan: { tcp: { port: 0 }, units } } };
    const kept = await keep(content, directory);
    for (const { tables } of kept.simulator.devices.values()) {
      const { image } = tables.holding.window;
      for (let cell = 0; cell < 65536; cell++) image.setWord(cell, (cell * 7) & 0xffff);
    }
    await kept.keeper.end();
    expect(filesIn(directory)).toHaveLength(count + 1);
    const after = await keep(content, directory);
    expect(imageOf(after, `meter-${count}`).wordAt(65535)).toBe((65535 * 7) & 0xffff);
  });
});
