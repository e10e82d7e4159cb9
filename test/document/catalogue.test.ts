import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { abilities } from '../../src/device/faults/kind.js';
import { ruleSchema, usableRule } from '../../src/device/faults/rule.js';
import { findMisbehaviour, readCatalogue, rulesOf } from '../../src/document/catalogue.js';
import { catalogueIds } from '../../src/document/catalogue-files.js';
import { loadNative } from '../../src/document/load.js';

const LINES = [
  { name: 'lan', abilities: abilities('tcp', 'socket') },
  { name: 'bus', abilities: abilities('serial', 'rtu') },
];

function loaded(file: object) {
  const result = loadNative(file, '.');
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.configuration;
}

function pathsOf(file: object): string[] {
  const result = loadNative(file, '.');
  return result.ok ? [] : result.problems.map(({ path }) => path);
}

describe.each(catalogueIds())('the entry %s', (id) => {
  it('is right, short, and does something on a line of some kind', () => {
    const entry = findMisbehaviour(id);
    if (!entry.ok) throw new Error(entry.error);
    const rules = rulesOf(entry.value, { device: 'meter' });
    for (const rule of rules) {
      expect(usableRule(ruleSchema.parse(rule), { lines: LINES, find: undefined }).ok).toBe(true);
    }
    const lines = readFileSync(`catalogue/${id}.yaml`, 'utf8').split('\n').length - 1;
    expect(lines, 'lines of the file, at most 39').toBeLessThan(40);
  });
});

describe('the catalogue', () => {
  it('has the entry that docs/ADDING_A_MISBEHAVIOUR.md shows', () => {
    expect(readFileSync('docs/ADDING_A_MISBEHAVIOUR.md', 'utf8')).toContain(
      readFileSync('catalogue/sleeps.yaml', 'utf8'),
    );
  });

  it('says which entry may be meant', () => {
    const meant = /^unknown entry of the catalogue "sleep", did you mean "sleeps"\?/;
    expect(findMisbehaviour('sleep')).toMatchObject({ error: expect.stringMatching(meant) });
    expect(findMisbehaviour('../package')).toMatchObject({ error: expect.stringMatching(/^unknown entry/) });
  });

  it('names its rules so that they are told apart, and aims them', () => {
    const names = readCatalogue().flatMap((entry) => rulesOf(entry, { device: 'm' }).map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(
      rulesOf({ id: 'x', faults: [{ name: 'a', when: { unit: 1 }, do: { delay: 1 } }] }, { line: 'lan' }),
    ).toEqual([{ name: 'x.lan', when: { unit: 1, line: 'lan' }, do: { delay: 1 } }]);
  });
});

describe('a device that is like an entry', () => {
  const fileOf = (device: object, faults: object[] = []) => ({
    devices: { meter: { registers: { holding: [{ address: 0 }] }, ...device } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    faults,
  });
  it('has its manners, unless it has manners of its own', () => {
    expect(loaded(fileOf({ like: 'sleeps' })).devices[0]?.extras.manners).toEqual({
      sleeps: { after: 30_000, wakes: 1 },
    });
    const own = { writes: 'single' };
    expect(loaded(fileOf({ like: 'sleeps', manners: own })).devices[0]?.extras.manners).toEqual(own);
  });

  it('has its rules, unless the file has rules of these names', () => {
    const file = fileOf({ like: 'exception-zero' });
    const { faults } = loaded(file);
    expect(faults).toMatchObject([{ name: 'exception-zero.meter', when: { every: 10, device: 'meter' } }]);
    const own = { name: 'exception-zero.meter', do: { delay: 1 } };
    expect(loaded({ ...file, faults: [own] }).faults).toMatchObject([{ faults: [{ kind: 'delay' }] }]);
  });

  it.each(['nobody', 5, 'newcomer-evicts'])('is refused as %s', (like) => {
    expect(pathsOf(fileOf({ like }))).toEqual(['devices.meter.like']);
  });
});

describe('a line that is like an entry', () => {
  const fileOf = (line: object) => ({
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { lan: { units: { 1: 'meter' }, ...line } },
  });

  it('has its settings, unless it has its own', () => {
    const { lines } = loaded(fileOf({ like: 'newcomer-evicts', tcp: { port: 0 } }));
    expect(lines).toMatchObject([{ maxClients: 1, port: 0 }]);
    const own = loaded(fileOf({ like: 'newcomer-evicts', tcp: { port: 0, maxClients: 3 } }));
    expect(own.lines).toMatchObject([{ maxClients: 3 }]);
  });

  it.each([
    ['nobody', { tcp: {} }],
    [5, { tcp: {} }],
    ['sleeps', { tcp: {} }],
    ['newcomer-evicts', { serial: { path: 'virtual' } }],
  ])('is refused as %s for %j', (like, line) => {
    expect(pathsOf(fileOf({ like, ...line }))).toEqual(['lines.lan.like']);
  });
});
