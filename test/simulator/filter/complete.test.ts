import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offersFor, partOf, withPart } from '../../../src/simulator/filter/complete.js';
import { FIELD_NAMES, FIELDS } from '../../../src/simulator/filter/fields.js';
import { parseFilter } from '../../../src/simulator/filter/parse.js';

const SEEN = {
  line: ['bus', 'second, line'],
  unit: ['1', '17'],
  rule: ['slow'],
  value: ['meter.voltage'],
  fc: ['3'],
};
const texts = (text: string) => offersFor(text, SEEN).map((offer) => offer.text);

describe('suggestions', () => {
  it('is a field at the beginning, behind a space and behind a parenthesis', () => {
    expect(texts('')).toEqual(expect.arrayContaining(['unit=', 'late>', 'value ', 'exception', 'not']));
    expect(texts('unit=1 ')).toEqual(expect.arrayContaining(['fc=', 'or', 'not']));
    expect(texts('(')).toContain('unit=');
    expect(texts('unit=1 r')).toEqual(['rule']);
  });

  it('is a value that was seen, or that the field may have', () => {
    expect(texts('unit=')).toEqual(['1', '17']);
    expect(texts('unit=1,1')).toEqual(['17']);
    expect(texts('not rule:s')).toEqual(['slow']);
    expect(texts('line=')).toEqual(['bus', '"second, line"']);
    expect(texts('line="sec')).toEqual(['"second, line"']);
    expect(texts('value m')).toEqual(['meter.voltage']);
    expect(texts('kind=foreign-')).toEqual([]);
    expect(texts('direction=')).toEqual(['in', 'out', 'none']);
    expect(offersFor('fc=', SEEN)[0]).toEqual({ from: 3, text: '3', about: 'read holding registers' });
    expect(texts('fc=mask')).toEqual(['22']);
  });

  it('is nothing behind a mistake, and nothing that is written already', () => {
    expect(texts('unt=1 f')).toEqual([]);
    expect(texts('unit=17')).toEqual([]);
  });

  it('can be read when it is put in', () => {
    for (const { text, from } of offersFor('unit=1 ', SEEN)) {
      const whole = `${'unit=1 '.slice(0, from)}${text}`;
      const field = FIELD_NAMES.find((name) => text.startsWith(name));
      if (field && FIELDS[field].alone) expect(parseFilter(whole).ok).toBe(true);
    }
    for (const text of ['line=', 'unit=', 'rule:']) {
      for (const offer of offersFor(text, SEEN))
        expect(parseFilter(text.slice(0, offer.from) + offer.text).ok).toBe(true);
    }
  });
});

describe('a field of a filter', () => {
  it('is found, changed, added and taken away, and all else stays', () => {
    expect(partOf('unit=1,5-9 not fc=3', 'unit')?.values).toEqual(['1', '5-9']);
    expect(partOf('not unit=1', 'unit')).toBeUndefined();
    expect(withPart('fc=3 unit=1 late>5ms', 'unit', ['2', '3'])).toBe('fc=3 unit=2,3 late>5ms');
    expect(withPart('fc=3 unit=1 late>5ms', 'unit', [])).toBe('fc=3 late>5ms');
    expect(withPart('unit=1', 'unit', [])).toBe('');
    expect(withPart('', 'line', ['second, line'])).toBe('line="second, line"');
    expect(withPart('unit=1 or unit=2', 'kind', ['request'])).toBe('(unit=1 or unit=2) kind=request');
    expect(withPart('unit=1', 'problem', undefined)).toBe('unit=1 problem');
  });

  it('has the values that it was given, whatever they are', () => {
    const value = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', 'unit=1', 'fc=3 or rule'),
        (values, text) => {
          const made = withPart(text, 'rule', values);
          expect(partOf(made, 'rule')?.values).toEqual(values);
          expect(withPart(made, 'rule', []).replace(/[()]/g, '')).toBe(text);
        },
      ),
    );
  });
});
