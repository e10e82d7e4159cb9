import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { reportPlaces } from '../../../../src/remote/api/v1/reports.js';

/** A reader of a report: it leaves, or what is made for it comes to its end. */
function reader(places: ReturnType<typeof reportPlaces>) {
  const raw = Object.assign(new EventEmitter(), { closed: false });
  const request = { url: '/api/v1/runs/1', params: {}, server: { server: {} } };
  const reply = { raw, code: () => ({ send: ({ code }: { readonly code: string }) => code }) };
  let resolve: (value: string) => void = () => {};
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  const answer = places.answer(request as never, reply as never, () => promise);
  return {
    answer: () => Promise.race([answer, Promise.resolve('being read')]),
    leave: () => {
      raw.closed = true;
      raw.emit('close');
    },
    end: async () => {
      resolve('read');
      await answer;
    },
  };
}

it('no more than four reports are read at a time, as all frames of each are in memory meanwhile', async () => {
  const places = reportPlaces();
  const readers = Array.from({ length: 4 }, () => reader(places));
  for (const each of readers) expect(await each.answer()).toBe('being read');
  const [first] = readers as [(typeof readers)[number]];
  expect(await reader(places).answer()).toBe('readers.too_many');
  first.leave();
  // Its frames are still in memory.
  expect(await reader(places).answer()).toBe('readers.too_many');
  await first.end();
  await new Promise(setImmediate);
  expect(await reader(places).answer()).toBe('being read');
  expect(await reader(places).answer()).toBe('readers.too_many');
});
