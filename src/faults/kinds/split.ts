import { z } from 'zod';
import { duration } from '../../schema/duration.js';
import { section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { cutFrames } from '../plan.js';

/**
 * `split: {at, gap}`: the frame leaves in pieces with `gap` ms between them, cut before byte `at`, in the middle,
 * or before each byte.
 */
export const split: FaultKind<{ at: number | 'middle' | 'each'; gap: number }> = {
  does: 'Sends the frame in pieces, with pauses between them.',
  schema: section({
    at: z
      .union([wholeNumber(1, UNLIMITED, 'a byte index'), z.enum(['middle', 'each'])], {
        error: 'a byte index, "middle" or "each"',
      })
      .describe('Where to cut the frame: before this byte, in the middle, or before each byte.'),
    gap: duration().describe('Pause between two pieces.'),
  }),
  apply(plan, { at, gap }, context) {
    const cannot = at === 'each' || at === 'middle' ? 'no frame to split' : `no frame with a byte ${at}`;
    return cutFrames(plan, context, cannot, (length) => cuts(at, length), gap);
  },
};

/** The first and the last offset to cut at. */
function cuts(at: number | 'middle' | 'each', length: number): readonly [number, number] {
  if (at === 'each') return [1, length - 1];
  const offset = at === 'middle' ? length >> 1 : at;
  return [offset, offset];
}
