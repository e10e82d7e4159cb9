import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { ApiContext } from '../../../../src/remote/api/desk.js';
import { reportView } from '../../../../src/remote/api/v1/reports.js';

it('no more than four reports are read at a time, as all frames of each are in memory meanwhile', async () => {
  const never = new Promise(() => {});
  const desk = { rpc: { list: () => never } } as unknown as ApiContext;
  const run = { id: 1, report: {} } as unknown as Parameters<typeof reportView>[2];
  const readers = Array.from({ length: 5 }, () => new EventEmitter());
  const ask = (raw: EventEmitter) =>
    Promise.race([reportView(desk, 'test', run, { raw } as never), Promise.resolve('being read')]);
  for (const raw of readers.slice(0, 4)) expect(await ask(raw)).toBe('being read');
  const fifth = readers[4] as EventEmitter;
  expect(await reportView(desk, 'test', run, { raw: fifth } as never)).toMatchObject({
    code: 'readers.too_many',
  });
  readers[0]?.emit('close');
  expect(await ask(fifth)).toBe('being read');
});
