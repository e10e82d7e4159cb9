import { randomAt } from '../../random.js';
import { number, section } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import type { SignalKind } from '../signal.js';
import { MIN_PERIOD } from '../wave.js';

/** `noise`: a new random value around a given one at every time step. */
export const noise: SignalKind<{ around: number; amplitude: number; every: number }> = {
  schema: section({ around: number, amplitude: number, every: duration(MIN_PERIOD).default(100) }),
  fits: 'numbers',
  doc: {
    entry: '`noise: {around, amplitude, every}`',
    value: '`every` (default 100ms) a new random value from around − amplitude to around + amplitude',
  },
  start: ({ around, amplitude, every }, { seed }) => ({
    valueAt: (time) => around + amplitude * (2 * randomAt(seed, Math.floor(time / every)) - 1),
  }),
};
