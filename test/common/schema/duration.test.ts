import { describe, expect, it } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import { section } from '../../../src/common/schema/parts.js';
import { duration } from '../../../src/common/schema/units.js';

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['20s', 20_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1.5h', 5_400_000],
    ['1.1s', 1100],
    ['0.25ms', 0.25],
    ['0s', 0],
    [250, 250],
    [0.5, 0.5],
  ])('%s is %d ms', (written, ms) => {
    expect(duration().parse(written)).toBe(ms);
  });

  it.each([
    '',
    '20',
    '20 s',
    '-1s',
    '1d',
    '1S',
    's',
    '1e3s',
    '1.s',
    '.5s',
    '9'.repeat(400).concat('h'),
    Number.NaN,
    -1,
    null,
    [1],
  ])('%j is none', (written) => {
    const result = duration().safeParse(written);
    expect(result.error?.issues[0]?.message).toMatch(
      /^a number of milliseconds, 0 or more, or a time such as 250ms, 20s, 5m, 1h$/,
    );
  });

  it('that can not be read is told as it was written', () => {
    const at = new At({ step: '15 minutes' }, fileFindings());
    at.check(section({ step: duration() }));
    expect(at.findings.listed).toEqual([
      {
        path: ['step'],
        message:
          'expected a number of milliseconds, 0 or more, or a time such as 250ms, 20s, 5m, 1h, got "15 minutes"',
      },
    ]);
  });

  it.each(['99ms', '2s', 99])('%s is outside of its range', (written) => {
    const result = duration(100, 1000).safeParse(written);
    expect(result.error?.issues[0]?.message).toMatch(
      /^a number of milliseconds from 100 to 1000, or a time such as/,
    );
  });
});
