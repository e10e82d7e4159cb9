import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measure, parseJson, readText } from '../../../src/remote/api/requests.js';

const KIB_256 = 256 * 1024;

/** What is read of a body that arrives in these pieces. */
function read(...pieces: (string | Buffer)[]) {
  const payload = new PassThrough();
  for (const piece of pieces) payload.write(piece);
  payload.end();
  return readText(payload, 0);
}

test('a body that arrives in pieces is read as a whole, also where a character is cut', async () => {
  const [first, second] = [Buffer.from('["€').subarray(0, 3), Buffer.from('["€').subarray(3)];
  expect(await read(first, second, '"]')).toEqual({ ok: true, text: '["€"]' });
});

test('a body without a declared length is refused when it is longer than 256 KiB', async () => {
  expect(await read('"', 'x'.repeat(KIB_256 - 2), '"')).toMatchObject({ ok: true });
  expect(await read('"', 'x'.repeat(KIB_256 - 1), '"')).toMatchObject({
    ok: false,
    problems: [{ code: 'request.too_long' }],
  });
});

test('a body with a declared length above the limit is refused before any of it has arrived', async () => {
  expect(await readText(new PassThrough(), KIB_256 + 1)).toMatchObject({
    ok: false,
    problems: [{ code: 'request.too_long' }],
  });
});

test('a body with too many names and values is refused before it is parsed', () => {
  expect(parseJson(`[${'1,'.repeat(5000)}1]`)).toMatchObject({
    ok: false,
    problems: [{ code: 'request.too_long', message: 'body: expected at most 4096 names and values' }],
  });
});

test('a client that leaves in the middle of a body is not our failure', async () => {
  const payload = new PassThrough();
  const result = readText(payload, 0);
  payload.write('{"a":');
  payload.destroy(new Error('aborted'));
  expect(await result).toMatchObject({ ok: false, problems: [{ message: 'body: aborted' }] });
});

test('a client that has left before its body is read is not waited for', async () => {
  const [left, leaving] = [new PassThrough(), new PassThrough()];
  left.destroy();
  const result = readText(leaving, 0);
  leaving.destroy();
  for (const read of [readText(left, 0), result])
    expect(await read).toMatchObject({ ok: false, problems: [{ message: 'body: aborted' }] });
});

test('a body that is nested too deep is refused before it is parsed', () => {
  const nested = (levels: number) => parseJson('['.repeat(levels) + ']'.repeat(levels));
  expect(nested(64)).toMatchObject({ ok: true });
  expect(nested(65)).toMatchObject({
    ok: false,
    problems: [
      { code: 'request.too_long', message: 'body: expected at most 64 levels of lists and mappings' },
    ],
  });
});

/** Levels of lists and mappings. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Names and values, nested ones included. */
function partsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = Object.values(value).reduce((sum: number, each) => sum + partsIn(each), 1);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

test.each([
  ['3', 1],
  ['[]', 2],
  ['[1,2]', 3],
  ['{"a":[1]}', 4],
  ['"[{,:"', 1],
  ['"a\\"[","b"', 2],
  ['"\\\\",1', 2],
  ['"µ€😀,",1', 2],
])('%s counts as %i names and values', (text, count) => {
  expect(measure(text).parts).toBe(count);
});

test('any JSON text counts for no less than its names and values, and for no more than twice as many', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { parts: count, depth } = measure(JSON.stringify(value));
      expect(depth).toBe(depthOf(value));
      expect(count).toBeGreaterThanOrEqual(partsIn(value));
      expect(count).toBeLessThanOrEqual(2 * partsIn(value));
    }),
  );
});
