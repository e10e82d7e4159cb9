import { expect, test } from 'vitest';
import { MOST_CARDS, questionsOf, watchedOf, watchList } from '../../../src/remote/web/views/panel/watch.js';

test('a card is a value by its name, or a part of a table', () => {
  expect(watchedOf('meter.phase.1')?.part).toEqual({ name: 'phase.1' });
  const known = ['pump', 'pump.1', 'meter'];
  expect(watchedOf('pump.1.phase.1', known)).toMatchObject({ device: 'pump.1', part: { name: 'phase.1' } });
  expect(watchList('pump.2,pump.1.speed', known).map(({ device }) => device)).toEqual(['pump', 'pump.1']);
  expect(watchedOf('meter/holding/7')?.part).toEqual({ table: 'holding', from: 7, to: 7 });
  expect(watchedOf('a.b/coils/3-9')).toEqual({
    key: 'a.b/coils/3-9',
    device: 'a.b',
    part: { table: 'coils', from: 3, to: 9 },
  });
  expect(watchedOf('meter/input')?.part).toEqual({ table: 'input', from: 0, to: 63 });
  expect(watchedOf('meter/input/0-65535')?.part).toEqual({ table: 'input', from: 0, to: 63 });
  for (const wrong of [
    '',
    'meter',
    'meter.',
    '.voltage',
    'meter/holdings/1',
    'meter/holding/9-3',
    'meter/holding/x',
  ])
    expect(watchedOf(wrong), wrong).toBeUndefined();
});

test('a list has each card once, and an end', () => {
  expect(watchList(' meter.a,meter.a,nonsense,pump.b').map(({ key }) => key)).toEqual(['meter.a', 'pump.b']);
  expect(watchList(Array.from({ length: 99 }, (_, i) => `meter.v${i}`).join())).toHaveLength(MOST_CARDS);
});

test('the values with names of a device are asked for at once', () => {
  const asked = questionsOf(watchList('meter.a,pump.b,meter.c,meter/coils/0-3'));
  expect(asked.map(({ device, query }) => [device, query])).toEqual([
    ['meter', { table: 'coils', from: '0', to: '3' }],
    ['meter', { names: 'a,c' }],
    ['pump', { names: 'b' }],
  ]);
});
