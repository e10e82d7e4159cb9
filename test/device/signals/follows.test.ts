import { describe, expect, it } from 'vitest';
import { signalSchema } from '../../../src/device/signals/kinds.js';
import { constant } from '../../../src/device/signals/signal.js';
import { mistakesOf, started } from './start.js';

function follower(more: object = {}) {
  const signal = started({ follows: { name: 'setpoint', ...more } });
  if (!signal.follower) throw new Error('follows nothing');
  const valuesAt = (...times: number[]) => times.map((time) => signal.valueAt(time));
  return { ...signal, follower: signal.follower, valuesAt };
}

describe('a value that follows another one', () => {
  it('is 0 until it is put to where the other one stands', () => {
    const { follower: position, valuesAt } = follower();
    expect(valuesAt(0, 1e9)).toEqual([0, 0]);
    position.begin(12);
    expect(valuesAt(0, 1e9)).toEqual([12, 12]);
    expect(position).toMatchObject({ command: 'setpoint', after: 0 });
    expect(signalSchema.parse({ follows: { name: 'setpoint' } }).needs).toEqual(['setpoint']);
  });

  it('goes where the other one went, its time later', () => {
    const { follower: position, valuesAt } = follower({ after: '2s' });
    position.begin(5);
    // At 1000 ms, 50 was written; from 1500 ms on it falls by 1 in 100 ms.
    position.follow(
      [
        { time: 1000, value: 50, rate: 0 },
        { time: 1500, value: 50, rate: -0.01 },
      ],
      3000,
    );
    expect(valuesAt(3000, 3500, 3600, 4500)).toEqual([50, 50, 49, 40]);
    expect(position.after).toBe(2000);
  });

  it('goes there by at most its change per second, from where it is', () => {
    const { follower: position, valuesAt } = follower({ slew: 10 });
    position.begin(20);
    position.follow(constant(50), 1000);
    expect(valuesAt(1000, 2000, 3500, 4000, 9000)).toEqual([20, 30, 45, 50, 50]);
    // Another command half way.
    position.follow(constant(0), 2000);
    expect(valuesAt(2000, 2500, 5000, 9000)).toEqual([30, 25, 0, 0]);
  });

  it('has the exact integral of its way, and a course that goes on', () => {
    const { follower: position, integral } = follower({ slew: 10 });
    position.follow(constant(20), 0);
    // A triangle of 2 s up to 20, then a second at 20.
    expect(integral?.(0, 3000)).toBeCloseTo(40, 12);
    expect(position.courseFrom(1000)).toEqual([
      { time: 1000, value: 10, rate: 0.01 },
      { time: 2000, value: 20, rate: 0 },
    ]);
  });

  it.each([
    [{}, /^follows\.name: missing, expected the name of the value to follow/],
    [{ name: 'a', slew: 0 }, /^follows\.slew: .*a change per second/],
    [{ name: 'a', after: '25h' }, /^follows\.after: /],
    [{ name: 'a', after: -1 }, /^follows\.after: /],
  ])('with %o is refused', (entry, message) => {
    expect(mistakesOf({ follows: entry })).toEqual([expect.stringMatching(message)]);
  });

  it('may be a day late', () => {
    expect(follower({ after: '24h' }).follower.after).toBe(86_400_000);
  });
});
