import { describe, expect, it } from 'vitest';
import { sure, type Trial, verdictOf } from '../../../src/testing/examine/trial/verdict.js';

const trial = (shows: Trial['shows'], more: Partial<Trial> = {}): Trial => ({
  shows,
  text: `was ${shows}`,
  evidence: [],
  ...more,
});
const trials = (text: string): Trial[] =>
  [...text].map((each) => trial(each === '+' ? 'right' : each === '-' ? 'wrong' : 'unclear'));

describe('the verdict from trials', () => {
  it.each([
    ['+', undefined],
    ['++', undefined],
    ['+++', 'pass'],
    ['---', 'fail'],
    ['???', 'inconclusive'],
    ['++-', undefined],
    ['++-++', 'pass'],
    ['--+--', 'fail'],
    ['+-+-+-+-', undefined],
    ['+-+-+-+-+', 'inconclusive'],
    ['++???????', 'inconclusive'],
  ])('of %s is %s', (text, verdict) => {
    expect(verdictOf(trials(text))?.verdict).toBe(verdict);
  });

  it('says how many trials agree', () => {
    const judged = verdictOf(trials('++-++'));
    expect(judged?.confidence).toEqual({ agreeing: 4, trials: 5 });
    expect(judged?.summary).toBe('was right (4 of 5 trials)');
  });

  it('is no pass by what the line shows where the value was taken', () => {
    const taken = trial('wrong', { isOfValues: true });
    expect(verdictOf([...trials('+++'), taken])).toBeUndefined();
    expect(verdictOf([taken, ...trials('+++'), taken, taken])?.verdict).toBe('fail');
  });

  it('is no pass for a client that was away, as a program is that was started again', () => {
    const away = trial('right', { wasAway: true });
    expect(verdictOf([away, away, away])).toBeUndefined();
    expect(verdictOf(Array.from({ length: 9 }, () => away))?.verdict).toBe('inconclusive');
  });

  it('is known at once where something is sure', () => {
    expect(sure('wrong', 'crashed').verdict).toBe('fail');
  });
});
