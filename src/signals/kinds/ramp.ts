import { number, oneOf, section } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import type { SignalKind } from '../signal.js';
import { MIN_PERIOD } from '../wave.js';

type Then = 'hold' | 'repeat' | 'bounce';

interface Ramp {
  readonly from: number;
  readonly to: number;
  readonly over: number;
  readonly then: Then;
}

/** `ramp`: goes from one value to another in a straight line, then does what `then` says. */
export const ramp: SignalKind<Ramp> = {
  schema: section({
    from: number,
    to: number,
    over: duration(MIN_PERIOD),
    then: oneOf(['hold', 'repeat', 'bounce']).default('hold'),
  }),
  fits: 'numbers',
  doc: {
    entry: '`ramp: {from, to, over, then}`',
    value:
      'a straight line; `then: hold` (the default) stays at the end, `repeat` begins again, `bounce` goes back the same way',
  },
  start: ({ from, to, over, then }) => ({
    valueAt: (time) => from + (to - from) * positionAt(time / over, then),
    integral(start, end) {
      const area = areaOf(end / over, then) - areaOf(start / over, then);
      return (from * (end - start) + (to - from) * over * area) / 1000;
    },
  }),
};

/** The completed share of the way, 0 to 1, after `lengths` lengths of the ramp. */
function positionAt(lengths: number, then: Then): number {
  if (then === 'hold') return Math.min(lengths, 1);
  const share = lengths - Math.floor(lengths);
  return then === 'bounce' && Math.floor(lengths) % 2 === 1 ? 1 - share : share;
}

/** The integral of {@link positionAt} from 0 on. */
function areaOf(lengths: number, then: Then): number {
  if (then === 'hold') return lengths < 1 ? lengths ** 2 / 2 : lengths - 0.5;
  const whole = Math.floor(lengths);
  const share = lengths - whole;
  const isBack = then === 'bounce' && whole % 2 === 1;
  return whole / 2 + (isBack ? share - share ** 2 / 2 : share ** 2 / 2);
}
