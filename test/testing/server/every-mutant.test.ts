import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { findMisbehaviour } from '../../../src/document/catalogue.js';
import { catalogueIds } from '../../../src/document/catalogue-files.js';
import { mannersSchema } from '../../../src/document/native/manners-schema.js';
import { behavesAs, LIKENESSES } from '../../../src/testing/server/behaves-as.js';
import { rows } from '../../support/tries.js';
import { ELSEWHERE, linesOf, MUTANTS, testMutant } from './every-mutant.js';
import { testModelServer } from './virtual-server.js';
import { outsideOf } from './written-to.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The file gets the table of docs/error-rates.md. With it, each mutant is tested on both lines; otherwise on one. */
const { MODBUS_SIM_MUTANTS_FILE: file } = process.env;
const QUICK = [
  'extra-byte-before',
  'needs-a-pause',
  'unknown-function-silent',
  'words-swapped',
  'wrong-unit',
  'locksUp: all',
];

/** What was found, by mutant and line. */
const found = new Map<string, string>();

afterAll(() => {
  if (!file) return;
  const table = Object.keys(MUTANTS).map((name) => {
    const [tcp, serial] = [found.get(`${name} tcp`) ?? '–', found.get(`${name} serial`) ?? '–'];
    return `| \`${name}\` | ${tcp} | ${serial} |\n`;
  });
  writeFileSync(file, `| mutant | TCP | serial line |\n| --- | --- | --- |\n${table.join('')}`);
});

describe('a server that is wrong in a known way ends in the one to three findings that name it', () => {
  const cases = Object.entries(rows(MUTANTS, QUICK)).flatMap(([name, mutant]) => {
    const lines = (['serial', 'tcp'] as const).filter((on) => mutant[on] !== undefined);
    const [first] = lines;
    const one = LIKENESSES[name]?.on ?? first;
    return lines.filter((on) => file || on === one).map((on) => [name, on, mutant] as const);
  });

  it.each(cases)('%s on %s', async (name, on, mutant) => {
    const { those, verdict, serverTest, sent, changed } = await testMutant(name, mutant, on);
    const { writes, outside } = outsideOf(serverTest.order.scratch, sent, on);
    if (verdict('fc06-echo') === 'conforms') expect(writes).toBeGreaterThan(10);
    expect(outside, 'writes outside of the scratch range').toEqual([]);
    expect(serverTest.lost).toEqual([]);
    expect(changed(), 'values that were not put back').toEqual([]);
    const lines = linesOf(serverTest);
    const wanted = mutant[on] ?? [];
    const violated = those('violates');
    expect(
      violated.toSorted(),
      lines.filter((text) => violated.some((id) => text.startsWith(`${id}:`))).join('\n'),
    ).toEqual(wanted.toSorted());
    expect(wanted.length).toBeLessThanOrEqual(3);
    const told = lines.find((text) => mutant.told?.test(text));
    if (wanted.length === 0) expect(told, lines.join('\n')).toBeDefined();
    const likeness = LIKENESSES[name];
    if (likeness && (likeness.on ?? on) === on)
      expect(
        behavesAs(serverTest).map(({ id }) => id),
        lines.join('\n'),
      ).toContain(name);
    found.set(`${name} ${on}`, wanted.map((id) => `\`${id}\``).join(', ') || `fact: ${told}`);
  });

  it('every entry of the catalogue and every key of manners is among them', () => {
    const names = [...Object.keys(MUTANTS), ...Object.keys(ELSEWHERE)];
    expect(catalogueIds().filter((id) => !names.includes(id))).toEqual([]);
    const keys = Object.values(MUTANTS).flatMap(({ manners = {} }) => Object.keys(manners));
    expect(Object.keys(mannersSchema.shape).filter((key) => !keys.includes(key))).toEqual([]);
  });
});

it('an exception now and then is noticed by a soak of two minutes', async () => {
  const entry = findMisbehaviour('noise-becomes-exception');
  if (!entry.ok) throw new Error(entry.error);
  const order = { soakMs: 120_000, checks: ['soak'] };
  const { verdict } = await testModelServer({ on: 'serial', faults: entry.value.faults, order });
  expect(verdict('soak')).toBe('violates');
});

it('only one of the functions 6 and 16 is no violation', async () => {
  for (const name of ['writes: single', 'writes: multiple']) {
    const { verdict, serverTest } = await testMutant(name, MUTANTS[name] ?? {}, 'serial');
    const isSingle = name === 'writes: single';
    expect(verdict(isSingle ? 'fc16-echo' : 'fc06-echo')).toBe('unsupported');
    expect(behavesAs(serverTest).map(({ id }) => id)).toEqual([
      isSingle ? 'only-function-6' : 'only-function-16',
    ]);
  }
});

it('values that a server does not take back are named', async () => {
  const dead = [{ name: 'dead', when: { after: 24 }, do: { silence: true } }];
  const order = { scratch: { holding: { first: 0, last: 129 } }, checks: ['fc06-echo'] };
  const { serverTest } = await testModelServer({ on: 'serial', faults: dead, order });
  expect(serverTest.lost).toMatchObject([{ table: 'holding', address: 0, had: 1000, has: undefined }]);
});
