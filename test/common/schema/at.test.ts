import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { At } from '../../../src/common/schema/at.js';
import { Findings, fileFindings, moreText } from '../../../src/common/schema/findings.js';
import { section, wholeNumber } from '../../../src/common/schema/parts.js';
import { pathText } from '../../../src/common/schema/problem.js';

const INPUT = { lines: { bench: { units: [1, 'x'], 'co size': 5 } }, none: null };

function cursor(value: unknown = INPUT, findings = fileFindings()): At {
  return new At(value, findings);
}

function told({ findings }: At): string[] {
  return findings.listed.map(({ path, message }) => `${pathText(path)}: ${message}`);
}

describe('a cursor', () => {
  it('stands at the input as a whole at first', () => {
    expect(cursor()).toMatchObject({ value: INPUT, path: [] });
  });

  it('goes down by keys and indices, and knows its path', () => {
    const at = cursor().key('lines').key('bench').key('units').key(1);
    expect(at.value).toBe('x');
    expect(at.path).toEqual(['lines', 'bench', 'units', 1]);
    expect(cursor().below(at.path).value).toBe('x');
  });

  it.each([
    ['a key that is not there', 'missing'],
    ['a name of every object', 'constructor'],
    ['the prototype', '__proto__'],
    ['an index of a mapping', 0],
  ])('finds nothing under %s', (_, part) => {
    expect(cursor().key(part).value).toBeUndefined();
  });

  it('finds nothing below what is no mapping and no list, and still knows where it stands', () => {
    const at = cursor().key('none').key('deeper').key(3);
    expect(at).toMatchObject({ value: undefined, path: ['none', 'deeper', 3] });
  });

  it('finds no properties of a list or a text', () => {
    expect(cursor(['a']).key('length').value).toBeUndefined();
    expect(cursor('abc').key('length').value).toBeUndefined();
  });

  it('tells what is wrong where it stands', () => {
    const at = cursor();
    at.key('lines').key('bench').key('co size').wrong('is too small');
    at.key('none').expected('a number');
    at.key('absent').expected('a number');
    expect(told(at)).toEqual([
      'lines.bench["co size"]: is too small',
      'none: expected a number, got nothing',
      'absent: missing, expected a number',
    ]);
  });

  it('tells warnings apart from mistakes', () => {
    const at = cursor();
    at.key('none').warn('has no effect');
    expect(at.findings).toMatchObject({ count: 0, warnings: [{ path: ['none'], message: 'has no effect' }] });
  });

  it('gives the entries of a mapping and the items of a list', () => {
    const at = cursor();
    expect(at.entries('names')?.map(([name, { path }]) => [name, path])).toEqual([
      ['lines', ['lines']],
      ['none', ['none']],
    ]);
    const units = at.key('lines').key('bench').key('units');
    expect(units.items()?.map(({ value }) => value)).toEqual([1, 'x']);
  });

  it('tells it where there are no entries and no items', () => {
    const at = cursor({ empty: {}, list: [1] });
    expect(at.key('empty').entries('lines by name')).toBeUndefined();
    expect(at.key('list').entries('lines by name')).toBeUndefined();
    expect(at.key('empty').items()).toBeUndefined();
    expect(told(at)).toEqual([
      'empty: expected lines by name, got an empty mapping',
      'list: expected lines by name, got a list',
      'empty: expected a list, got a mapping',
    ]);
  });

  it('drops a result whose making told a mistake, and none for mistakes told before', () => {
    const at = cursor();
    at.wrong('before');
    expect(at.unlessWrong(() => 1)).toBe(1);
    expect(at.unlessWrong(() => at.key('none').wrong('now') ?? 1)).toBeUndefined();
  });
});

const SCHEMA = section({ unit: wholeNumber(1, 247), name: z.string({ error: 'text' }).optional() });

describe('a check', () => {
  it('gives what the schema makes of the value', () => {
    expect(cursor({ unit: 5 }).check(SCHEMA)).toEqual({ unit: 5 });
  });

  it('tells each mistake at its place, with what was found there', () => {
    const at = cursor({ at: { unit: 'x', nam: 1 } });
    expect(at.key('at').check(SCHEMA)).toBeUndefined();
    expect(told(at)).toEqual([
      'at.unit: expected a whole number from 1 to 247, got "x"',
      'at.nam: unknown key "nam", did you mean "name"? (known: unit, name)',
    ]);
  });

  it('tells a value that fails two checks alike once', () => {
    const at = cursor({ unit: 1e300 });
    at.check(SCHEMA);
    expect(told(at)).toEqual(['unit: expected a whole number from 1 to 247, got 1e+300']);
  });
});

describe('findings', () => {
  const keys = Object.fromEntries(Array.from({ length: 24_000 }, (_, i) => [`k${i}`, i]));

  it('list the first twenty mistakes and count the others', () => {
    const at = cursor(keys, new Findings());
    at.check(SCHEMA);
    expect(at.findings.listed).toHaveLength(20);
    expect(at.findings.listed[0]?.path).toEqual(['unit']);
    expect(at.findings.count).toBe(24_001);
    expect(moreText(at.findings)).toBe('and 23,981 more');
  });

  it('list every mistake of a file', () => {
    const at = cursor(keys);
    at.check(SCHEMA);
    expect(at.findings.listed).toHaveLength(24_001);
    expect(moreText(at.findings)).toBeUndefined();
  });

  it('word no mistake that is not listed', () => {
    const findings = new Findings(1);
    findings.add(() => ({ path: [], message: 'first' }));
    findings.add(() => {
      throw new Error('worded');
    });
    expect(findings).toMatchObject({ count: 2, more: 1, listed: [{ message: 'first' }] });
  });
});
