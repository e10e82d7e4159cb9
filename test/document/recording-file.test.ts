import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { lastBefore } from '../../src/device/signals/recording/scan.js';
import type { Track } from '../../src/device/signals/signal.js';
import { openingRecording, openRecording } from '../../src/document/recording-file.js';

const folder = mkdtempSync(join(tmpdir(), 'recording-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(text: string): string {
  const file = join(folder, `${files++}.csv`);
  writeFileSync(file, text);
  return file;
}

function open(text: string, { column = 'v', now = (): number => 0 } = {}) {
  const file = fileOf(text);
  return { file, opened: openRecording({ file, time: 'time', column }, now) };
}

function trackOf(text: string, column = 'v'): Track {
  const { opened } = open(text, { column });
  if (!opened.ok) throw new Error(opened.error);
  return opened.value();
}

function valueAt(track: Track, time: number): number | string {
  const rows = track.rowsAt(time);
  return !rows.ok ? rows.error : (rows.value.values[lastBefore(rows.value.times, time)] as number);
}

test('what is no regular file is refused at once, and a pipe that nobody writes to as well', () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of [pipe, '/dev/zero', folder]) {
    const opened = openRecording({ file, time: 'time', column: 'v' }, () => 0);
    expect(opened).toEqual({ ok: false, error: `${file}: is not a regular file` });
  }
});

test('a file that has become a pipe is trouble, and not waited for', () => {
  let now = 0;
  const { file, opened } = open('time,v\n0,1\n1,2\n', { now: () => now });
  if (!opened.ok) throw new Error(opened.error);
  const track = opened.value();
  expect(valueAt(track, 0)).toBe(1);
  rmSync(file);
  execFileSync('mkfifo', [file]);
  now += 10_000;
  expect(valueAt(track, 0)).toMatch(/can't be read: is not a regular file/);
});

test('rows of long lines are found, few of which are read at once', () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${i},${i},${'x'.repeat(30_000)}\n`);
  const track = trackOf(`time,v,text\n${rows.join('')}`);
  const read = track.rowsAt(20_500);
  expect(!read.ok ? read.error : read.value.times.length).toBeLessThanOrEqual(4);
  for (let i = 0; i < 40; i++) expect(valueAt(track, i * 1000)).toBe(i);
});

test('reading pauses after each piece, and stops at its limit', () => {
  const text = `time,v\n${Array.from({ length: 20_000 }, (_, i) => `${i},${i}\n`).join('')}`;
  const source = { file: fileOf(text), time: 'time', column: 'v' };
  const readWith = (most: number) => {
    const opening = openingRecording(source, () => 0, { most, left: most });
    for (let pauses = 0; ; pauses++) {
      const { done, value } = opening.next();
      if (done) return { pauses, value };
    }
  };
  const whole = readWith(text.length);
  expect(whole.value.ok).toBe(true);
  expect(whole.pauses).toBeGreaterThanOrEqual(Math.floor(text.length / 16_384));
  expect(readWith(text.length - 1).value).toEqual({
    ok: false,
    error: `${source.file}: expected at most ${text.length - 1} bytes of recordings in one request`,
  });
});

describe('a recording in a CSV file', () => {
  it.each([
    ['commas', 'time,v\n0,1\n1.5,2\n'],
    ['no line feed at the end', 'time,v\n0,1\n1.5,2'],
    ['semicolons, CRLF and a byte order mark', '\ufefftime;v\r\n0;1\r\n1.5;2\r\n'],
    ['tabs and empty lines', 'time\tv\n\n0\t1\n\n1.5\t2\n\n'],
    ['other columns and spaces', 'v , x, time\n1, "a, b", 0\n2, "say ""c""", 1.5\n'],
    ['names in quotes', '"time","v"\n"0","1"\n"1.5","2"\n'],
    ['times from anywhere', 'time,v\n100,1\n101.5,2\n'],
    ['times of day', 'time,v\n2024-12-31T23:59:59Z,1\n2025-01-01T00:00:00.500Z,2\n'],
  ])('is read with %s', (_, text) => {
    const track = trackOf(text);
    expect([0, 1499, 1500, 2999].map((time) => valueAt(track, time))).toEqual([1, 1, 2, 2]);
    expect(track.length).toBe(3000);
  });

  it.each([
    ['', /line 0: expected rows of data/],
    ['time,v\n', /line 1: expected rows of data/],
    ['time,w\n0,1\n', /line 1: unknown column "v".*known: time, w/],
    ['t,v\n0,1\n', /line 1: unknown column "time"/],
    ['time,v\n0,1\n1,high\n', /line 3: expected a number, got "high"/],
    ['time,v\n0,1\n\n1,\n', /line 4: expected a number, got ""/],
    ['time,v\n0,NaN\n', /line 2: expected a number/],
    ['time,v\n0,1e999\n', /line 2: expected a number/],
    ['time,v\nnoon,1\n', /line 2: expected a time in seconds/],
    ['time,v\n2024-99-99,1\n', /line 2: expected a time in seconds/],
    ['time,v\n0,1\n2,1\n1,1\n', /line 4: expected a time no earlier/],
    ['time,v\n0,1\n2', /line 3: expected a number, got ""/],
    [`time,v\n${'9'.repeat(70_000)}`, /line 2: expected at most 65536 bytes/],
  ])('is refused for %j', (text, message) => {
    const { opened, file } = open(text);
    expect(opened).toMatchObject({ ok: false, error: expect.stringMatching(message) });
    expect(opened).toMatchObject({ error: expect.stringContaining(file) });
  });

  it('is refused when there is no such file', () => {
    const opened = openRecording({ file: join(folder, 'none.csv'), time: 'time', column: 'v' }, () => 0);
    expect(opened).toMatchObject({ ok: false, error: expect.stringMatching(/none\.csv: ENOENT/) });
  });

  it('of 100,000 rows is read in blocks, in any order', () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => `${i},${i * 2}`);
    const track = trackOf(`time,v\n${rows.join('\n')}\n`);
    for (const second of [0, 99_999, 1023, 1024, 50_000, 1023, 31]) {
      expect(valueAt(track, second * 1000 + 999)).toBe(second * 2);
    }
    const block = track.rowsAt(50_000_000);
    expect(!block.ok ? block.error : block.value.values.length).toBeLessThanOrEqual(1024);
  });

  it('that vanishes is told within a second of the next read', () => {
    let now = 0;
    const text = 'time,v\n0,1\n1,2\n';
    const { file, opened } = open(text, { now: () => now });
    if (!opened.ok) throw new Error(opened.error);
    const track = opened.value();
    expect(valueAt(track, 0)).toBe(1);
    rmSync(file);
    now = 1000;
    expect(valueAt(track, 0)).toMatch(/can't be read: ENOENT/);
  });

  it('that changes is told', () => {
    let now = 0;
    const { file, opened } = open('time,v\n0,1\n1,2\n', { now: () => now });
    if (!opened.ok) throw new Error(opened.error);
    const track = opened.value();
    expect(valueAt(track, 0)).toBe(1);
    writeFileSync(file, 'time,v\n0,1\n1,x\n5,6');
    now = 1000;
    expect(valueAt(track, 0)).toMatch(/has changed since it was opened/);
  });
});
