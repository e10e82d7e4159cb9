import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExpression } from '../../../src/device/signals/expression/parse.js';

const NAMES: Record<string, number> = { voltage: 230, current: 10, 'other.voltage': 400, relay: 1, sin: 7 };

function evaluated(text: string, time = 2000): number {
  const parsed = parseExpression(text);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.bind((name) => ({ valueAt: () => NAMES[name] as number }))(time);
}

function errorOf(text: string): string | undefined {
  const parsed = parseExpression(text);
  return 'error' in parsed ? parsed.error : undefined;
}

describe('an expression', () => {
  it.each([
    ['voltage * current / 1000', 2.3],
    ['other.voltage - voltage', 170],
    ['t', 2],
    ['-t ** 2', 4],
    ['2 + 3 * 4', 14],
    ['(2 + 3) * 4', 20],
    ['7 % 4', 3],
    ['2 ** 3 ** 2', 512],
    ['.5 + 1e3', 1000.5],
    ['min(3, 1, 2) + max(4)', 5],
    ['abs(-3) + round(2.5) + floor(-0.5)', 5],
    ['clamp(voltage, 0, 100)', 100],
    ['sin(0)', 0],
    ['sin + 1', 8],
    ['if(relay, voltage, 0)', 230],
    ['relay ? 1 : 2', 1],
    ['relay == 1 && voltage > 200', 1],
    ['!relay || voltage != 230', 0],
    ['1 <= 1', 1],
    ['1 / 0', Number.POSITIVE_INFINITY],
    ['2 < 1', 0],
    ['1 < 1', 0],
    ['1 < 2', 1],
    ['2 <= 1', 0],
    ['1 > 1', 0],
    ['2 > 1', 1],
    ['1 >= 1', 1],
    ['1 >= 2', 0],
    ['1 == 2', 0],
    ['1 != 2', 1],
    ['0 || 0', 0],
    ['0 || 5', 1],
    ['5 || 0', 1],
    ['0 && 5', 0],
    ['5 && 0', 0],
    ['5 && 5', 1],
    ['!5', 0],
    ['!0', 1],
    ['+5', 5],
    ['clamp(5, 0, 100)', 5],
    ['clamp(-5, 0, 100)', 0],
    ['if(0, 1, 2)', 2],
    ['0 ? 1 : 2', 2],
    ['sin(1)', Math.sin(1)],
    ['max(1, 3, 2)', 3],
    ['floor(2.9)', 2],
  ])('%s is %d', (text, value) => {
    expect(evaluated(text)).toBeCloseTo(value, 12);
  });

  it('names each value that it needs once, and not the time', () => {
    expect(parseExpression('a + b * a + other.c + t')).toMatchObject({ names: ['a', 'b', 'other.c'] });
  });

  it.each([
    ['', /empty/],
    ['1 +', /not an expression/],
    ['a b', /an operator is missing/],
    ['a = 1', /not an expression/],
    ['a += 1', /not an expression/],
    ['a++', /not an expression/],
    ['a, b', /an operator is missing|SequenceExpression is not allowed/],
    ['a; b', /an operator is missing/],
    ['"text"', /expected a number, got/],
    ['true', /expected a number, got/],
    ['null', /expected a number, got/],
    ['this', /ThisExpression is not allowed/],
    ['[1, 2]', /ArrayExpression is not allowed/],
    ['a[0]', /must be other.name/],
    ['a["constructor"]', /must be other.name/],
    ['a?.b', /must be other.name/],
    ['a.b.c', /must be other.name/],
    ['(1).constructor', /must be other.name/],
    ['a.constructor("x")()', /expected the name of a function/],
    ['constructor("x")', /unknown function "constructor"/],
    ['__proto__(1)', /unknown function "__proto__"/],
    ['toString()', /unknown function/],
    ['eval("1")', /unknown function "eval"/],
    ['sinn(1)', /unknown function "sinn", did you mean "sin"/],
    ['a === b', /unknown operator "==="/],
    ['a ?? b', /unknown operator|not an expression/],
    ['a << 2', /unknown operator "<<"/],
    ['~a', /unknown operator "~"/],
    ['sin()', /sin takes 1 arguments, got 0/],
    ['sin(1, 2)', /sin takes 1 arguments, got 2/],
    ['min()', /min takes 1 to 100 arguments, got 0/],
    [`max(${'1,'.repeat(100)}1)`, /max takes 1 to 100 arguments, got 101/],
    ['clamp(1, 2)', /clamp takes 3 arguments, got 2/],
    ['a.b(1)', /expected the name of a function before \(/],
    ['if(1, 2)', /if takes 3 arguments, got 2/],
    ['`a`', /not an expression/],
    ['x => x', /not an expression/],
    ['/a/', /not an expression/],
  ])('%s is refused', (text, message) => {
    expect(errorOf(text)).toMatch(message);
  });

  it('takes constructor and __proto__ for names like any other, of which there are none', () => {
    expect(parseExpression('constructor + a.__proto__')).toMatchObject({
      names: ['constructor', 'a.__proto__'],
    });
  });

  it.each([
    ['10,000 characters', '1+'.repeat(5000), /at most 2000 characters, got 10000/],
    ['1,000 parentheses', '('.repeat(999) + 1 + ')'.repeat(999), undefined],
    ['1,000 parentheses around sums', '(1+'.repeat(499) + 1 + ')'.repeat(499), /nested more than 250 deep/],
    ['1,000 calls', 'sin('.repeat(399) + 1 + ')'.repeat(399), /nested more than 250 deep/],
    ['2,000 signs', `${'- '.repeat(999)}1`, /nested more than 250 deep/],
    ['a sum of 900 terms', `1${'+1'.repeat(900)}`, /nested more than 250 deep/],
    ['a tower of powers', `1${'**1'.repeat(600)}`, /nested more than 250 deep/],
    ['nested choices', `${'1?'.repeat(400)}1${':1'.repeat(400)}`, /nested more than 250 deep/],
    ['open brackets', '['.repeat(2000), /not an expression/],
    ['open parentheses', '('.repeat(2000), /not an expression/],
  ])('of %s is an error and no overflow of the stack', (_, text, message) => {
    if (message) expect(errorOf(text)).toMatch(message);
    else expect(evaluated(text)).toBe(1);
  });

  it('takes a sum of 251 terms, 100 arguments, and 2000 characters', () => {
    expect(evaluated(`1${'+1'.repeat(250)}`)).toBe(251);
    expect(errorOf(`1${'+1'.repeat(251)}`)).toBe('nested more than 250 deep');
    expect(evaluated(`min(${'5,'.repeat(99)}4)`)).toBe(4);
    expect(evaluated('1'.padEnd(2000))).toBe(1);
    expect(errorOf('1'.padEnd(2001))).toBe('expected an expression of at most 2000 characters, got 2001');
  });

  it('has one error, the first, and keeps its text', () => {
    expect(errorOf('foo(1) + ~a')).toMatch(/^unknown function "foo"/);
    expect(parseExpression('a + 1')).toMatchObject({ text: 'a + 1' });
  });

  it('of any text gives an answer', () => {
    const pieces = fc.constantFrom(
      'a',
      '.',
      '(',
      ')',
      '[',
      ']',
      '1',
      '+',
      '-',
      '!',
      '?',
      ':',
      ',',
      '"',
      ' ',
      'if',
      '__proto__',
      '=',
      '\\',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const parsed = parseExpression(parts.join(''));
        if (!('error' in parsed)) expect(typeof parsed.bind(() => ({ valueAt: () => 1 }))(0)).toBe('number');
      }),
      { numRuns: 2000 },
    );
  });
});
