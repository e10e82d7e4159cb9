import { expect, it } from 'vitest';
import { ask } from '../../../src/common/rest-client/client.js';

/** A program that answers as it wants. */
const foreign = (body: string | ReadableStream<Uint8Array>, status: number) => async () =>
  new Response(body, { status });

/** JSON that never ends. @returns how much of it was read */
function endless() {
  const piece = new Uint8Array(1024 * 1024).fill(0x20);
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces++;
      controller.enqueue(piece);
    },
  });
  return { body, read: () => pieces };
}

it.each([200, 400])('of an answer with status %d and without an end, 64 MB are read', async (status) => {
  const { body, read } = endless();
  expect(await ask(foreign(body, status), 'GET', '/')).toMatchObject({ ok: false });
  expect(read()).toBeLessThan(70);
});

it('says why an answer without an end was given up', async () => {
  const answer = await ask(foreign(endless().body, 200), 'GET', '/');
  expect(answer).toMatchObject({ cause: { message: 'the answer is larger than 64 MB' } });
});

it.each(['null', '[]', '"no"', '{"detail": 7, "problems": "no"}', '{"problems": [null, {"path": 1}]}'])(
  'takes %s for a refusal that says nothing',
  async (body) => {
    expect(await ask(foreign(body, 404), 'GET', '/')).toEqual({
      ok: false,
      status: 404,
      problem: { detail: expect.stringMatching(/^HTTP 404/), problems: [] },
    });
  },
);
