import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readBody } from '../../src/api/json-body.js';

const KIB_256 = 256 * 1024;

/** What is read of a body that arrives in these pieces. */
function read(...pieces: (string | Buffer)[]) {
  const payload = new PassThrough();
  for (const piece of pieces) payload.write(piece);
  payload.end();
  return readBody(payload, 0);
}

test('a body that arrives in pieces is read as a whole, also where a character is cut', async () => {
  const [first, second] = [Buffer.from('["€').subarray(0, 3), Buffer.from('["€').subarray(3)];
  expect(await read(first, second, '"]')).toEqual({ ok: true, text: '["€"]' });
});

test('a body without a declared length is refused when it is longer than 256 KiB', async () => {
  expect(await read('"', 'x'.repeat(KIB_256 - 2), '"')).toMatchObject({ ok: true });
  expect(await read('"', 'x'.repeat(KIB_256 - 1), '"')).toMatchObject({ ok: false, status: 413 });
});

test('a body with a declared length above the limit is refused before any of it has arrived', async () => {
  expect(await readBody(new PassThrough(), KIB_256 + 1)).toMatchObject({ ok: false, status: 413 });
});

test('a body with too many names and values is refused when all of it has arrived', async () => {
  const payload = new PassThrough();
  let refused = false;
  const result = readBody(payload, 0).finally(() => {
    refused = true;
  });
  payload.write(`[${'1,'.repeat(5000)}`);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(refused).toBe(false);
  payload.end('1]');
  expect(await result).toEqual({
    ok: false,
    status: 413,
    error: 'body: expected at most 4096 names and values',
  });
});

test('a client that leaves in the middle of a body is not our failure', async () => {
  const payload = new PassThrough();
  const result = readBody(payload, 0);
  payload.write('{"a":');
  payload.destroy(new Error('aborted'));
  expect(await result).toEqual({ ok: false, status: 400, error: 'body: aborted' });
});
