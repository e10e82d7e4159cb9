import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

const PATH = '/api/v1/traffic/file';
const devices = { meter: { registers: { holding: [{ address: 0 }] } } };
const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };

let running: RunningSimulator;
let directory: string;

stopAfterEach();
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'traffic-file-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('is started, changed, shown and stopped over REST', async () => {
  running = await startSimulator(nativeSetup({ devices, lines }, directory));
  const { rest, simulator } = running;
  expect((await rest.send('GET', PATH)).body).toEqual({ writing: false });

  const started = await rest.send('PUT', PATH, { file: directory, rotate: { files: 2, size: '1MB' } });
  expect(started).toEqual({
    status: 200,
    body: {
      writing: true,
      file: directory,
      format: 'ndjson',
      rotate: { size: 2 ** 20, files: 2 },
      path: join(directory, 'traffic-000001.ndjson'),
      problem: null,
      missed: 0,
    },
  });
  await simulator.lines.get('lan')?.stop();
  const changed = await rest.send('PUT', PATH, { file: directory, format: 'pcapng' });
  expect(changed.body).toMatchObject({ path: join(directory, 'traffic-000002.pcapng') });
  expect(readFileSync(join(directory, 'traffic-000001.ndjson'), 'utf8')).toMatch(
    /^\{.*"text":"line stopped.*\}\n$/,
  );

  expect((await rest.send('DELETE', PATH)).body).toEqual({ writing: false });
  expect((await rest.send('DELETE', PATH)).body).toEqual({ writing: false });
});

test('a directory that can not be had changes nothing', async () => {
  running = await startSimulator(nativeSetup({ devices, lines }, directory));
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const { status, body } = await running.rest.send<{ error: string }>('PUT', PATH, { file });
  expect(status).toBe(409);
  expect(body.error).toMatch(/^file: ENOTDIR/);
  expect((await running.rest.send('GET', PATH)).body).toEqual({ writing: false });
  expect((await running.rest.send('PUT', PATH, { file: directory, rotate: { files: 0 } })).status).toBe(400);
});

test('is written from the start when the configuration says so', async () => {
  running = await startSimulator(nativeSetup({ devices, lines, traffic: { file: directory } }));
  await running.stop();
  const [name = ''] = readdirSync(directory);
  const events = readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1);
  expect(events.map((event) => JSON.parse(event).kind)).toEqual(['line', 'line']);
});

describe('over REST nothing is written elsewhere', () => {
  const elsewhere = async (file: string) => {
    const { status, body } = await running.rest.send<{ error: string }>('PUT', PATH, { file });
    expect((await running.rest.send('GET', PATH)).body).toEqual({ writing: false });
    return [status, body.error];
  };

  it('than below the directory of the configuration', async () => {
    const inside = join(directory, 'inside');
    mkdirSync(inside);
    symlinkSync(directory, join(inside, 'out'));
    symlinkSync(directory, join(directory, 'in'));
    running = await startSimulator(nativeSetup({ devices, lines }, inside));
    const refused = [400, `file: expected a path in ${inside}, where REST may write`];
    const leading = [
      '..',
      '../other',
      'a/../../b',
      directory,
      '/',
      '/etc/new',
      'out',
      'out/new',
      `${inside}2`,
    ];
    for (const file of leading) expect(await elsewhere(file)).toEqual(refused);
    expect(readdirSync(directory).sort()).toEqual(['in', 'inside']);
    for (const file of ['.', '..a', 'a/b/../c', inside, join(directory, 'in', 'inside')]) {
      expect((await running.rest.send('PUT', PATH, { file })).status).toBe(file.includes('/in/') ? 400 : 200);
    }
  });

  it('than where the configuration has traffic written, or where the command line says', async () => {
    const inside = join(directory, 'inside');
    running = await startSimulator(nativeSetup({ devices, lines }, directory), { host: '' }, inside);
    expect((await elsewhere(directory))[0]).toBe(400);
    expect((await running.rest.send('PUT', PATH, { file: 'new' })).body).toMatchObject({
      file: join(inside, 'new'),
    });
    await running.stop();
    const traffic = { file: 'kept' };
    running = await startSimulator(nativeSetup({ devices, lines, traffic }, directory));
    await running.rest.send('DELETE', PATH);
    expect((await elsewhere(inside))[0]).toBe(400);
    expect((await running.rest.send('PUT', PATH, { file: '.' })).body).toMatchObject({
      file: join(directory, 'kept'),
    });
  });
});

test('files with other contents under the name of the next one are never written over', async () => {
  const name = join(directory, 'traffic-000001.ndjson');
  writeFileSync(name, 'mine');
  running = await startSimulator(nativeSetup({ devices, lines }, directory));
  await running.rest.send('PUT', PATH, { file: '.' });
  await running.stop();
  expect(readFileSync(name, 'utf8')).toBe('mine');
});
