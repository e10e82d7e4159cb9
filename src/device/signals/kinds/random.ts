import { randomAt } from '../../../common/random.js';
import { number, numberFrom, section, UNLIMITED } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { MIN_PERIOD, signal } from '../signal.js';

/** Signals that vary at random. The same seed gives the same values at the same times. */
export const RANDOM = {
  noise: signal({
    schema: section(
      { around: number, amplitude: number, every: duration(MIN_PERIOD).default(100) },
      {
        around: 'The middle.',
        amplitude: 'Maximum distance from `around`.',
        every: 'Interval between new values, in ms.',
      },
    ),
    fits: 'numbers',
    doc: {
      entry: '`noise: {around, amplitude, every}`',
      value:
        'a new random value from around − amplitude to around + amplitude, once per `every` (default 100ms)',
    },
    start: ({ around, amplitude, every }, { seed }) => ({
      valueAt: (time) => around + amplitude * (2 * randomAt(seed, Math.floor(time / every)) - 1),
    }),
  }),

  walk: signal({
    schema: section(
      {
        step: numberFrom(0, UNLIMITED, 'the largest step'),
        min: number,
        max: number,
        every: duration(MIN_PERIOD).default(1000),
      },
      {
        step: 'The largest step.',
        min: 'The lower end.',
        max: 'The upper end.',
        every: 'The time between steps, in ms.',
      },
    ).refine(({ min, max }) => min <= max, { path: ['max'], error: 'expected max to be at least min' }),
    fits: 'numbers',
    doc: {
      entry: '`walk: {step, min, max, every}`',
      value:
        'a random walk that starts in the middle: once per `every` (default 1s) it moves up or down by at most `step`, turning back at `min` and `max`',
    },
    start: ({ step, min, max, every }, { seed }) => ({
      valueAt: (time) =>
        folded(
          min / 2 +
            max / 2 +
            step * positionAt(seed, Math.min(Math.floor(time / every), Number.MAX_SAFE_INTEGER)),
          min,
          max,
        ),
    }),
  }),
};

/**
 * Returns the position of an unbounded random walk after `n` steps of at most 1 each, without computing the
 * earlier steps. The walk is built by halving, like a Brownian bridge: first the positions at powers of two,
 * then the middle between two known positions, until it reaches `n`, which is at most 2^53 - 1. This takes at
 * most 2 log2(n) random numbers. Two positions L steps apart vary like the sum of L independent steps, but
 * are never more than L apart.
 */
function positionAt(seed: number, n: number): number {
  if (n <= 0) return 0;
  // The positions at the powers of two on both sides of `n`.
  let [low, high] = [0, 1];
  let [below, above] = [0, deviation(seed, 1)];
  while (high <= n) {
    const length = high;
    [low, high] = [high, 2 * high];
    below = above;
    above = below + Math.sqrt(length) * deviation(seed, high);
  }
  while (low < n) {
    const half = (high - low) / 2;
    const middle = low + half;
    const slack = half - Math.abs(above - below) / 2;
    const position = (below + above) / 2 + within(Math.sqrt(half / 2) * deviation(seed, middle), slack);
    if (middle <= n) [low, below] = [middle, position];
    else [high, above] = [middle, position];
  }
  return below;
}

/** Returns the random number from -1 to 1 for a position. */
function deviation(seed: number, position: number): number {
  return 2 * randomAt(seed, position) - 1;
}

function within(value: number, limit: number): number {
  return Math.min(Math.max(value, -limit), limit);
}

/** Reflects a position at both bounds, as between two mirrors. Folding makes no step longer. */
function folded(position: number, min: number, max: number): number {
  const width = max - min;
  if (width === 0) return min;
  const cycle = position - min - 2 * width * Math.floor((position - min) / (2 * width));
  return Math.min(Math.max(min + (cycle > width ? 2 * width - cycle : cycle), min), max);
}
