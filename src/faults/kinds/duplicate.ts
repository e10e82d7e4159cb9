import { duration } from '../../schema/duration.js';
import { section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { repeatFrames } from '../plan.js';

/** `duplicate: {times, gap}`: the frame again, `times` times, with `gap` ms before each copy. */
export const duplicate: FaultKind<{ times: number; gap: number }> = {
  does: 'Sends copies of the frame after it.',
  schema: section({
    times: wholeNumber(1, UNLIMITED, 'a number of copies').describe('Number of copies.'),
    gap: duration().default(0).describe('Pause before each copy.'),
  }),
  apply: (plan, { times, gap }, context) => repeatFrames(plan, context, 'no frame to repeat', times, gap),
};
