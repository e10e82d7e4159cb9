import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PLAYED, restoring, WORLD } from '../../../scripts/hostile/document-world.mjs';
import { type Request, requestsOf } from '../../../scripts/hostile/requests.mjs';
import { nativeSetup } from '../../support/configuration.js';
import { document, expectDocumented } from '../../support/documented.js';
import { Rest } from './rest.js';

/** How long an answer is read that has no end. */
const READ_MS = 20;
const ROUND = 200;
const REQUESTS = 3000;

async function answerOf({ app }: Rest, { method, path, body, type }: Request) {
  const response = await app.inject({
    method: method as 'GET',
    url: path,
    payloadAsStream: true,
    headers: { host: 'localhost', ...(type !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { payload: body }),
  });
  const { statusCode, headers, raw } = response;
  const goesOn = delay(READ_MS).then(() => {
    raw.res.destroy();
    return undefined;
  });
  const whole = await Promise.race([text(response.stream()).catch(() => undefined), goesOn]);
  return { statusCode, headers, body: whole };
}

it.each([1, 2, 3])(
  'no request that is made of the document is an internal error, or has another answer than the document says: seed %i',
  async (seed) => {
    const directory = mkdtempSync(join(tmpdir(), 'hostile-document-'));
    const rest = new Rest(nativeSetup(PLAYED, directory));
    await rest.simulator.start();
    const next = requestsOf(document, WORLD, seed);
    const seen = new Set<number>();
    try {
      for (let i = 0; i < REQUESTS; i++) {
        if (i % ROUND === 0) for (const request of restoring()) await answerOf(rest, request);
        const request = next();
        const { statusCode, headers, body } = await answerOf(rest, request);
        const what = `${i}. ${request.method} ${request.path} ${request.body?.slice(0, 2000)}`;
        expect(statusCode, `${what}\n${body}`).not.toBe(500);
        seen.add(statusCode);
        if (body === undefined) continue;
        try {
          expectDocumented(request.method, request.path, { statusCode, headers, body });
        } catch (error) {
          throw new Error(`${what}: ${(error as Error).message}`);
        }
      }
    } finally {
      await rest.app.close();
      await rest.simulator.stop();
      rmSync(directory, { recursive: true });
    }
    expect([...seen]).toEqual(expect.arrayContaining([200, 201, 204, 400, 404, 409]));
  },
);

it('no request that is made has responses split or changed, as that would be on all lines', () => {
  const next = requestsOf(document, WORLD, 1);
  const bodies = Array.from({ length: 20_000 }, next)
    .filter(({ operation }) => operation === 'post /restapi/calls')
    .flatMap(({ body = '' }) => (body.includes('"Simulate"') ? [body] : []));
  expect(bodies.length).toBeGreaterThan(50);
  for (const body of bodies) expect(body).not.toMatch(/"response_(split|cr)"/);
});
