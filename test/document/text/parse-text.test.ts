import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseText } from '../../../src/document/text/parse-text.js';

it.each([
  ['- '.repeat(64), ''],
  ['['.repeat(64), ']'.repeat(64)],
  ['{a: '.repeat(64), '}'.repeat(64)],
])('%s nests 64 levels deep, and not one more', (open, close) => {
  expect(parseText(`${open}x${close}`)).toMatchObject({ ok: true });
  expect(parseText(`${open}${open.slice(0, open.length / 64)}x${close}${close.slice(-1)}`)).toMatchObject({
    ok: false,
    problems: [{ message: expect.stringMatching(/^nested more than 64 levels deep/) }],
  });
});

/** `LINE:COLUMN: MESSAGE` of each problem. */
function problemsOf(...lines: string[]): string[] {
  const parsed = parseText(`${lines.join('\n')}\n`);
  return parsed.ok ? [] : parsed.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
}

describe('a missing brace or bracket is told where it was opened', () => {
  it.each<[name: string, lines: string[], expected: string]>([
    [
      'in JSON, by the indentation of what follows',
      ['{', '  "a": {', '    "b": {"c": [1]', '  },', '  "d": 5', '}'],
      '3:10: this { is not closed',
    ],
    ['at the end of JSON', ['{', '  "a": {"b": 1}'], '1:1: this { is not closed'],
    ['of a list in JSON', ['{', '  "a": [', '    1, 2', '}'], '2:8: this [ is not closed'],
    ['in a line of YAML', ['a:', '  b: {c: {d: 1}', 'e: 5'], '2:6: this { is not closed'],
    ['of an entry in a YAML list', ['a:', '  - {b: 1', '  - {b: 2}'], '2:5: this { is not closed'],
    ['of the other kind', ['a: {b: [1, 2}', 'c: 5'], '1:8: this [ is not closed'],
  ])('%s', (_, lines, expected) => {
    expect(problemsOf(...lines)).toEqual([expected]);
  });

  it('and not where a text or a comment has one', () => {
    expect(problemsOf('a: "{"', 'b: {c: "}" # }', 'd: 5')).toEqual(['2:4: this { is not closed']);
  });

  it('whichever closing one is taken out of indented JSON', () => {
    const data = { a: { b: [{ c: 1 }, { c: [1, 2] }], d: { e: {} } }, f: [[1], [2]] };
    const text = JSON.stringify(data, null, 2);
    const closing = Array.from(text.matchAll(/[}\]]/g), ({ index }) => index);
    fc.assert(
      fc.property(fc.constantFrom(...closing), (index) => {
        const parsed = parseText(text.slice(0, index) + text.slice(index + 1));
        const problems = parsed.ok
          ? []
          : parsed.problems.filter(({ message }) => /is not closed/.test(message));
        expect(problems).toHaveLength(1);
        expect(problems[0]?.line).toBeLessThanOrEqual(text.slice(0, index).split('\n').length);
      }),
    );
  });
});

describe('a mistake of syntax is told in plain words', () => {
  it.each<[name: string, lines: string[], expected: string[]]>([
    [
      'of a line that is indented too little',
      ['lines:', '  lan:', '    tcp: {port: 5020}', '   units: {1: meter}'],
      ['4:1: this line is indented by 3 spaces; the lines around it by 2 or 4'],
    ],
    [
      'of a line that is indented too far',
      ['lines:', '  lan:', '    tcp: {port: 5020}', '     units: {1: meter}'],
      ['4:1: this line is indented by 5 spaces; the lines around it by 4'],
    ],
    [
      'of an item of a list',
      ['a:', '  - b: 1', '    c: |', '         a text', '        # of two lines', ' - b: 2'],
      ['6:1: this line is indented by 1 space; the lines around it by 0 or 2'],
    ],
    ['of a tab', ['a:', '\tb: 1'], ['2:1: a tab at the beginning of the line: indent it with spaces']],
    [
      'of several, each at its place',
      ['a:', '  b: 1', 'c: d: e', 'f:', '   g: 1', '  h: 2', 'i: @x'],
      [
        '3:4: a second colon with a space in one line: put the value in quotes, or its keys in {}',
        '6:1: this line is indented by 2 spaces; the lines around it by 0 or 3',
        "7:4: a value can't begin with this character: put it in quotes",
      ],
    ],
    [
      'of a key without its colon',
      ['a: 1', 'b 2', 'c: 3'],
      ['2:1: expected a key, a colon and a space, as in "key: value"'],
    ],
  ])('%s', (_, lines, expected) => {
    expect(problemsOf(...lines)).toEqual(expected);
  });
});

describe('merge keys', () => {
  const dataOf = (...lines: string[]) => {
    const parsed = parseText(`${lines.join('\n')}\n`);
    return parsed.ok ? JSON.parse(JSON.stringify(parsed.source.value)) : parsed.problems;
  };

  it('bring the keys of a mapping, or of several, that the mapping does not have itself', () => {
    const both = ['a: &a {x: 1, y: 2}', 'b: &b {y: 3, z: 4}'];
    expect(dataOf(...both, 'c: {y: 0, <<: *a}').c).toEqual({ x: 1, y: 0 });
    expect(dataOf(...both, 'c: {<<: [*a, *b]}').c).toEqual({ x: 1, y: 2, z: 4 });
    expect(dataOf(...both, 'c:', '  <<: *b', '  <<: {w: 5}').c).toEqual({ w: 5, y: 3, z: 4 });
    expect(dataOf('a: &a {x: 1}', 'b: &b {<<: *a, y: 2}', 'c: {<<: *b}').c).toEqual({ x: 1, y: 2 });
    expect(dataOf('c: {"<<": 5}').c).toEqual({ '<<': 5 });
  });

  it('take mappings only, and a mistake in what they bring is told where it stands', () => {
    expect(problemsOf('a: {<<: 5}')).toEqual(['1:5: expected a mapping or a list of mappings, got 5']);
    const parsed = parseText('a: &a\n  x: wrong\nb: {<<: *a}\n');
    const found = parsed.ok ? parsed.source.locate([{ path: ['b', 'x'], message: 'is wrong' }]) : [];
    expect(found).toEqual([{ path: 'b.x', message: 'is wrong', line: 2, column: 3 }]);
  });
});
