import { z } from 'zod';
import { section } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { milliseconds, wholeNumber } from '../parameters.js';
import { cutFrame, hasFrame, mapFrameSteps } from '../plan.js';

/**
 * `split: {at, gap}`: the frame leaves in pieces with `gap` ms between them, cut before byte `at`, in the middle,
 * or before each byte.
 */
export const split: FaultKind<{ at: number | 'middle' | 'each'; gap: number }> = {
  schema: section({
    at: z.union([wholeNumber('a byte index', 1), z.enum(['middle', 'each'])], {
      error: 'a byte index, "middle" or "each"',
    }),
    gap: milliseconds,
  }),
  extent: ({ bytes, ms }, { at, gap }) => ({ bytes, ms: ms + gap * (at === 'each' ? bytes : 1) }),
  apply(plan, { at, gap }) {
    if (!hasFrame(plan)) return 'nothing is sent that could be split';
    return mapFrameSteps(plan, (pieces) => {
      const length = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
      return cutFrame(pieces, cuts(at, length), gap);
    });
  },
};

function cuts(at: number | 'middle' | 'each', length: number): number[] {
  if (at === 'each') return Array.from({ length: length - 1 }, (_, i) => i + 1);
  return [at === 'middle' ? length >> 1 : at];
}
