import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIELD_NAMES, FIELDS } from '../../../src/simulator/filter/fields.js';
import { type Facts, type Filter, type MoreFacts, matches } from '../../../src/simulator/filter/filter.js';
import { mistakeText, parseFilter } from '../../../src/simulator/filter/parse.js';

function filterOf(text: string): Filter {
  const parsed = parseFilter(text, { now: 10_000 });
  if (!parsed.ok) throw new Error(mistakeText(parsed.error));
  return parsed.value.filter;
}

function mistakeIn(text: string): string | undefined {
  const parsed = parseFilter(text);
  return parsed.ok ? undefined : mistakeText(parsed.error);
}

const MORE: MoreFacts = {
  client: '192.168.0.7:40112',
  host: undefined,
  rules: ['slow'],
  ranges: () => [{ address: 10, quantity: 5 }],
  device: () => 'meter',
  exception: () => undefined,
  problem: () => 'ordered',
  lateUs: () => 61_000,
  isAbout: (name) => name === 'voltage',
  numbers: (name) => (name === 'voltage' ? [241.5] : []),
  written: () => undefined,
  bytes: () => '010304',
  text: () => 'unit 1 read holding registers 10–14',
};
const FRAME: Facts = {
  line: 'bench',
  kind: 'reply',
  direction: 'out',
  timeUs: 5_000_000,
  unit: 1,
  functionCode: 3,
  more: MORE,
};

describe('a filter matches a frame', () => {
  test.each([
    'unit=1 fc=3 addr 0-10 not rule:fast late>50ms value voltage>240',
    'UNIT = 1, 3 AND Function:read-holding',
    'unit 1 fc 3',
    'unit!=2',
    'late > 0.06s late<=61',
    'rule not exception',
    'client=192.168.0.7',
    'client=192.168.0.7:40112',
    'since=10s until=2s',
    'bytes="03 04"',
    '"HOLDING registers"',
    'device=meter name=voltage',
    'value voltage!=240 value "voltage"<=241.5',
    'unit=9 or (fc=9 or fc=3) and line=bench',
    'problem=ordered',
    'not (unit=2 or unit=3)',
    '',
  ])('%s', (text) => {
    expect(matches(filterOf(text), FRAME)).toBe(true);
  });

  test.each([
    'unit=2',
    'not unit=1',
    'addr=0-9',
    'addr=15',
    'late>61ms',
    'exception',
    'host',
    'value voltage>241.5',
    'value current>0',
    'bytes=3040',
    'unit=1 or unit=2 unit=3 not line',
  ])('not: %s', (text) => {
    const parsed = parseFilter(text);
    if (parsed.ok) expect(matches(parsed.value.filter, FRAME)).toBe(false);
    else expect(text).toMatch(/not line|3040/);
  });
});

describe('a mistake names its place and what was expected', () => {
  test.each([
    ['unt=1', /^expected a field: line, unit, fc, .*, got "unt=1" \(at character 1 of the filter\)$/],
    [
      'fc=3 unit=256',
      'expected a unit identifier from 0 to 255, or a range such as 1-9, got "256" (at character 11 of the filter)',
    ],
    [
      'unit=9-1',
      'expected a unit identifier from 0 to 255, or a range such as 1-9, got "9-1" (at character 6 of the filter)',
    ],
    ['kind=reqest', /^expected one of request, broadcast, .*got "reqest" \(at character 6/],
    [
      'unit=',
      'expected a unit identifier from 0 to 255, or a range such as 1-9, got the end (at character 6 of the filter)',
    ],
    ['late=50ms', 'expected < or > after late (at character 6 of the filter)'],
    ['late>x', 'expected a comparison with a time, such as >50ms, got "x" (at character 6 of the filter)'],
    [
      'value voltage',
      'expected <, >, <=, >=, = or != after the name of a value, got the end (at character 14 of the filter)',
    ],
    ['value voltage>240V', 'expected a number, got "240V" (at character 15 of the filter)'],
    ['(unit=1', 'expected a closing parenthesis, got the end (at character 8 of the filter)'],
    ['unit=1)', 'expected a field, or the end, got ")" (at character 7 of the filter)'],
    ['unit=1 or', 'expected a field, got the end (at character 10 of the filter)'],
    ['rule:"a', 'expected a closing quote, got "\\"" (at character 6 of the filter)'],
    ['since=1x', /^expected a time such as/],
    ['line<3', 'expected = after line, got < (at character 6 of the filter)'],
    ['bytes=123', 'expected hexadecimal bytes, such as 0103, got "123" (at character 7 of the filter)'],
    ['not '.repeat(17), /at most 16 levels of parentheses and "not"/],
    ['('.repeat(999), /at most 16 levels of parentheses/],
    ['x'.repeat(1001), /at most 1000 characters/],
  ])('%s', (text, message) => {
    expect(mistakeIn(text)).toMatch(message);
  });

  test('a time that is some time ago needs a present', () => {
    expect(parseFilter('since=5m', {}).ok).toBe(false);
    expect(parseFilter('since=5m', { now: 0 }).ok).toBe(true);
  });
});

const word = fc.constantFrom(
  ...FIELD_NAMES,
  ...[
    '=',
    ':',
    '<',
    '>',
    '!=',
    '(',
    ')',
    'or',
    'and',
    'not',
    ',',
    ' ',
    '"',
    '\\',
    '1',
    '0-9',
    '50ms',
    'voltage',
    '65536',
    'é',
    '\n',
  ],
);

describe('any text', () => {
  test('is a filter, or has a mistake at a place in it', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        const text = words.join('');
        const parsed = parseFilter(text, { now: 0 });
        if (parsed.ok) expect(matches(parsed.value.filter, FRAME)).toBeTypeOf('boolean');
        else {
          expect(parsed.error.at).toBeLessThanOrEqual(text.length);
          expect(parsed.error.message).toMatch(/^expected /);
        }
      }),
    );
  });

  test('that is long is refused or read at once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('"', '(', 'not ', 'unit=1,', 'value x>1 ', '"\\"', ' ', '9', 'or '),
        (piece) => {
          const text = piece.repeat(Math.floor(1000 / piece.length));
          expect(parseFilter(text).ok).toBeTypeOf('boolean');
        },
      ),
    );
  });
});

/** Filters of fields that the outline of an event decides, and of others. */
const test_ = fc.constantFrom(
  'unit=1',
  'unit=2',
  'fc=3',
  'kind=request',
  'rule',
  'addr=10',
  'exception',
  'late>1',
);
const filters = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    test_,
    fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} or ${b})`),
    fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} ${b})`),
    tie('filter').map((a) => `not ${a}`),
  ),
})).filter;

test('what the outline of a frame decides, the whole frame decides in the same way', () => {
  const { more: _, ...outline } = FRAME;
  fc.assert(
    fc.property(filters, (text) => {
      const filter = filterOf(text);
      const early = matches(filter, outline);
      if (early !== undefined) expect(matches(filter, FRAME)).toBe(early);
    }),
  );
});

test('each field says what it is about', () => {
  expect(Object.values(FIELDS).every(({ about, expected }) => about.length > 5 && expected.length > 3)).toBe(
    true,
  );
});
