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
  schema: section({
    at: z.union([wholeNumber(1, UNLIMITED, 'a byte index'), z.enum(['middle', 'each'])], {
      error: 'a byte index, "middle" or "each"',
    }),
    gap: duration(),
  }),
  extent: (before, { at, gap }) => ({
    ...before,
    ms: before.ms + gap * (at === 'each' ? before.bytes : before.frames),
  }),
  apply(plan, { at, gap }) {
    const cannot = at === 'each' || at === 'middle' ? 'no frame to split' : `no frame with a byte ${at}`;
    return cutFrames(plan, cannot, (length) => cuts(at, length), gap);
  },
};

function cuts(at: number | 'middle' | 'each', length: number): number[] {
  if (at === 'each') return Array.from({ length: length - 1 }, (_, i) => i + 1);
  return [at === 'middle' ? length >> 1 : at];
}
