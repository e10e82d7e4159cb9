import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  running = await startSimulator(nativeSetup({ devices, lines }));
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
  running = await startSimulator(nativeSetup({ devices, lines }));
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
