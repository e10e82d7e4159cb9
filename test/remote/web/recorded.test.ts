import { expect, test } from 'vitest';
import { linesOf } from '../../../src/remote/web/recorded.js';

test('a line in a file may have any name, and has the units with events', () => {
  const device = (name: string, lines: object) => ({ device: { name, lines }, states: [] });
  const devices = [device('meter', { bench: ['1'] }), device('rest', { bench: ['*'] })];
  const events = [
    { line: 'bench', unit: 1, pauseUs: 4000, pauseCharacters: 4 },
    { line: 'constructor', unit: 1 },
    { line: 'bench', unit: 2, pauseUs: 9000, pauseCharacters: 4 },
    { line: 'bench' },
  ];
  expect(linesOf(events as never, devices as never)).toMatchObject([
    { name: 'bench', units: { 1: 'meter', 2: 'rest' }, times: { characterTime: 1, t35: 3.5 } },
    { name: 'constructor', units: {}, times: {} },
  ]);
});
