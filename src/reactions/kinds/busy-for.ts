import { duration } from '../../schema/units.js';
import { unlessWritable } from '../fits.js';
import type { ReactionKind } from '../reaction.js';
import { MAX_DELAY, MIN_DELAY } from '../times.js';

/** `busyFor`: the device is busy after a write, as one that stores the value in its EEPROM. */
export const busyFor: ReactionKind<number> = {
  schema: duration(MIN_DELAY, MAX_DELAY),
  doc: {
    entry: '`busyFor: 500ms`',
    effect: 'after a write, the device refuses all writes for so long with exception 06; reads are answered',
  },
  whyUnfit: unlessWritable,
  start: (ms, { busy }) => ({ written: () => busy(ms) }),
};
