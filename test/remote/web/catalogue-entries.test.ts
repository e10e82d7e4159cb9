import { expect, test } from 'vitest';
import { readCatalogue } from '../../../src/document/catalogue.js';
import { entriesWith, playedOn, whoPlays } from '../../../src/remote/web/views/catalogue/entries.js';

const ENTRIES = readCatalogue();
const entry = (id: string) => ENTRIES.find((each) => each.id === id) ?? expect.fail(id);

test('an entry is found by words of its texts, of its devices and of what it does', () => {
  const found = (search: string) => entriesWith(ENTRIES, search).map(({ id }) => id);
  expect(found('')).toHaveLength(ENTRIES.length);
  expect(found('REGISTERS most')).toContain('few-registers');
  expect(found('truncate')).toContain('last-byte-lost');
  expect(found('nothing-of-this-kind')).toEqual([]);
});

test('who plays an entry is seen by rules, manners and settings', () => {
  const { manners = {} } = entry('few-registers');
  const line = {
    name: 'lan',
    settings: {},
    manners: { meter: { ...manners, idle: 5 }, pump: {} },
    units: { 1: 'meter' },
  };
  const running = { lines: [line], rules: ['first-request-lost.pump', 'mine'] };
  expect(whoPlays(entry('few-registers'), running)).toEqual(['meter']);
  expect(whoPlays(entry('first-request-lost'), running)).toEqual(['pump']);
  expect(whoPlays(entry('holes-silent'), running)).toEqual([]);
  const dotted = (id: string, ...names: readonly string[]) =>
    whoPlays(entry(id), { lines: [], rules: names.map((name) => `${id}.pump.1${name}`) });
  expect(dotted('first-request-lost', '')).toEqual(['pump.1']);
  const several = ENTRIES.find(({ faults }) => faults.length > 1) ?? expect.fail('an entry with rules');
  expect(dotted(several.id, ...several.faults.map(({ name }) => `.${name}`))).toEqual(['pump.1']);
  expect(playedOn(line, ENTRIES, running.rules).map(({ id }) => id)).toEqual(['few-registers']);
  const { line: settings = {} } = entry('stray-byte-while-idle');
  const bus = { ...line, name: 'bus', manners: {}, settings: { framing: 'rtu', ...settings } };
  expect(whoPlays(entry('stray-byte-while-idle'), { lines: [bus], rules: [] })).toEqual(['bus']);
});
