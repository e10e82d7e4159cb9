import { duration } from '../../schema/units.js';
import { unlessCoil } from '../fits.js';
import type { ReactionKind } from '../reaction.js';
import { MAX_DELAY, MIN_DELAY } from '../times.js';

/** `pulse`: a coil that falls back. */
export const pulse: ReactionKind<number> = {
  schema: duration(MIN_DELAY, MAX_DELAY),
  doc: {
    entry: '`pulse: 500ms`',
    effect: 'a coil that was set falls back after so long; setting it again begins the time anew',
  },
  whyUnfit: (entry) =>
    unlessCoil(entry) ??
    (entry.movedBy && `expected no ${entry.movedBy} beside it: a pulse is a coil that is written`),
  start: (ms, context) => {
    let callOff: (() => void) | undefined;
    return {
      written() {
        callOff?.();
        callOff = context.value === 0 ? undefined : context.later(ms, () => context.show(0));
      },
    };
  },
};
