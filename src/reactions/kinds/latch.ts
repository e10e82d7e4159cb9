import { z } from 'zod';
import { section } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import type { Signal } from '../../signals/signal.js';
import { unlessCoil, unlessWritable } from '../fits.js';
import type { ReactionKind } from '../reaction.js';
import { MAX_DELAY, MIN_DELAY } from '../times.js';

const LATCH = 'true, or how often the signal is looked at, as in {every: 1s}';

/** How often the signal of a latch is looked at unless the entry says otherwise, in ms. */
const EVERY = 1000;

/** `latch`: a bit that stays set until it is written. */
export const latch: ReactionKind<{ every: number }> = {
  schema: z.union(
    [
      z.literal(true, { error: LATCH }).transform(() => ({ every: EVERY })),
      section({ every: duration(MIN_DELAY, MAX_DELAY) }),
    ],
    { error: LATCH },
  ),
  doc: {
    entry: '`latch: true`, `latch: {every: 100ms}`',
    effect:
      'a coil that its signal or another reaction has set stays set until it is written. Its signal is looked at `every` so often (default 1s)',
  },
  whyUnfit: (entry) => {
    if (entry.movedBy === 'follows' || entry.movedBy === 'action') {
      return `expected no ${entry.movedBy} beside it: a latch has a signal, or is set by onWrite`;
    }
    if (entry.reactions.includes('pulse')) return 'expected no pulse beside it: a latch does not fall back';
    return unlessCoil(entry) ?? unlessWritable(entry);
  },
  start: ({ every }, context) => ({
    kept: (next) => (context.value === 0 ? next : 1),
    around: (signal) => latched(signal, every),
  }),
};

/**
 * 1 from the first moment on at which `signal` is set, 0 before. The signal is looked at on a fixed grid, as a controller
 * does in its cycle, so earlier reads never change the result.
 */
function latched(signal: Signal, every: number): Signal {
  let since = Number.POSITIVE_INFINITY;
  /** The grid line that is looked at next. */
  let line = 0;
  const lookUntil = (time: number) => {
    for (; line * every <= time && since === Number.POSITIVE_INFINITY; line++) {
      if (Math.round(signal.valueAt(line * every)) >= 1) since = line * every;
    }
  };
  return {
    valueAt(time) {
      lookUntil(time);
      return Number(time >= since);
    },
    accumulator: {
      settle: lookUntil,
      preset(time, value) {
        since = value >= 1 ? time : Number.POSITIVE_INFINITY;
        line = Math.floor(time / every) + 1;
      },
      reached: () =>
        since === Number.POSITIVE_INFINITY
          ? { time: (line - 1) * every, value: 0 }
          : { time: since, value: 1 },
    },
  };
}
