import { describe, expect, it } from 'vitest';
import { sure, type Trial, verdictOf } from '../../../src/testing/client/trial/verdict.js';

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
    ['?', undefined],
    ['+???', undefined],
    ['+-???', undefined],
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
    expect(verdictOf([taken, ...trials('+--')])?.confidence).toEqual({ agreeing: 3, trials: 3 });
    expect(verdictOf([trial('right', { isOfValues: true }), ...trials('++')])?.verdict).toBe('pass');
  });

  it('says what the client did where nothing is clear, and where trials do not agree', () => {
    expect(verdictOf(trials('???'))?.summary).toBe('was unclear (3 of 3 trials)');
    const { confidence, summary } = verdictOf(trials('+-+-+-+-+')) ?? {};
    expect(confidence).toEqual({ agreeing: 0, trials: 9 });
    expect(summary).toBe('the trials do not agree: was right; was wrong');
  });

  it('names each thing that the client did once, with the range of its numbers, and three things at most', () => {
    const did = (...texts: string[]) => verdictOf(texts.map((text) => trial('wrong', { text })))?.summary;
    expect(did('asked after 12.5 ms', 'asked after 300 ms', 'closed')).toBe(
      'asked after 12.5 to 300 ms; closed (3 of 3 trials)',
    );
    expect(did('a', 'b', 'c', 'd')).toBe('a; b; c (4 of 4 trials)');
  });

  it('has a conclusion where the client fails and a trial has one', () => {
    const known = (shows: Trial['shows']) => [trial(shows), trial(shows, { conclusion: 'x' }), trial(shows)];
    expect(verdictOf(known('wrong'))?.conclusion).toBe('x');
    expect(verdictOf(known('right'))).not.toHaveProperty('conclusion');
    expect(verdictOf(trials('---'))).not.toHaveProperty('conclusion');
  });

  it('is no pass for a client that was away, as a program is that was started again', () => {
    const away = trial('right', { wasAway: true });
    expect(verdictOf([away, away, away])).toBeUndefined();
    const judged = verdictOf([away, ...trials('++++++++')]);
    expect(judged?.verdict).toBe('inconclusive');
    expect(judged?.away).toBe(away.text);
    expect(verdictOf(trials('+++'))).not.toHaveProperty('away');
  });

  it('is known at once where something is sure', () => {
    expect(sure('wrong', 'crashed', undefined, 'Crashes.')).toEqual({
      verdict: 'fail',
      confidence: { agreeing: 1, trials: 1 },
      summary: 'crashed',
      evidence: [],
      conclusion: 'Crashes.',
    });
  });
});
