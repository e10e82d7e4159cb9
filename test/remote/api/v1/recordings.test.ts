import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

interface Answer {
  readonly error: string;
  readonly signal: unknown;
}

const SECRET = 'time,secret\n0,1\n';

let inside: string;
let outside: string;
let rest: Rest;

beforeEach(() => {
  inside = mkdtempSync(join(tmpdir(), 'recordings-'));
  outside = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  writeFileSync(join(inside, 'a.csv'), 'time,v\n0,5\n1,6\n');
  writeFileSync(join(outside, 'played.csv'), 'time,v\n0,7\n1,8\n');
  writeFileSync(join(outside, 'secret.csv'), SECRET);
  const played = { playback: { file: join(outside, 'played.csv'), column: 'v' } };
  const holding = [
    { address: 0, name: 'one', signal: played },
    { address: 1, name: 'two', value: 1 },
  ];
  const setup = {
    devices: { meter: { clock: { paused: true }, registers: { holding } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  };
  rest = new Rest(nativeSetup(setup, inside));
});

afterEach(() => {
  for (const directory of [inside, outside]) rmSync(directory, { recursive: true });
});

const play = (file: string, more: object = {}) =>
  rest.send<Answer>('PUT', '/api/v1/devices/meter/signals/two', { playback: { file, column: 'v', ...more } });

const addDevice = (file: string) =>
  rest.send<Answer>('POST', '/api/v1/devices', {
    name: 'added',
    registers: { holding: [{ address: 0, signal: { playback: { file, column: 'v' } } }] },
    queues: { 0: { every: 1000, signal: { playback: { file, column: 'v' } } } },
  });

test('a client may name recordings in the directory of the configuration, by relative paths too', async () => {
  expect(await play('a.csv')).toMatchObject({ status: 200, body: { value: 5 } });
  expect((await play(join(inside, 'a.csv'))).status).toBe(200);
  expect((await addDevice('a.csv')).status).toBe(201);
});

test('a recording elsewhere that the configuration plays can be played by other values, too', async () => {
  expect(await play(join(outside, 'played.csv'), { speed: 2 })).toMatchObject({
    status: 200,
    body: { value: 7 },
  });
  expect((await addDevice(join(outside, 'played.csv'))).status).toBe(201);
});

it.each(['directly', 'by a symbolic link'])('no other file is read, named %s', async (how) => {
  const link = join(inside, 'link.csv');
  symlinkSync(join(outside, 'secret.csv'), link);
  const file = how === 'directly' ? join(outside, 'secret.csv') : link;
  for (const { status, body } of [await play(file), await addDevice(file)]) {
    expect(status).toBe(400);
    expect(body.error).toContain(`expected a path in ${inside}, where REST may read recordings`);
    expect(JSON.stringify(body)).not.toContain('time, secret');
  }
});

test('a pipe that nobody writes to is refused at once', async () => {
  execFileSync('mkfifo', [join(inside, 'pipe')]);
  const { status, body } = await play('pipe');
  expect(status).toBe(400);
  expect(body.error).toContain('pipe: is not a regular file');
});

test('the recordings of one request may have 16 MiB together', async () => {
  writeFileSync(join(inside, 'long.csv'), `time,v\n${`0,1.${'0'.repeat(60)}\n`.repeat(280_000)}`);
  const { status, body } = await play('long.csv');
  expect(status).toBe(400);
  expect(body.error).toContain('expected at most 16777216 bytes of recordings in one request');
});

test('the event loop turns while a recording is read', async () => {
  writeFileSync(join(inside, 'long.csv'), `time,v\n${'0,1\n'.repeat(500_000)}`);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  const answer = play('long.csv');
  setImmediate(turn);
  expect((await answer).status).toBe(200);
  isOver = true;
  expect(turns).toBeGreaterThan(20);
});
