import { duration } from '../../schema/duration.js';
import { section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrameSteps } from '../plan.js';

/** `duplicate: {times, gap}`: the frame again, `times` times, with `gap` ms before each copy. */
export const duplicate: FaultKind<{ times: number; gap: number }> = {
  schema: section({ times: wholeNumber(1, UNLIMITED, 'a number of copies'), gap: duration().default(0) }),
  extent: ({ frames, bytes, lead, ms }, { times, gap }) => ({
    frames: frames * (times + 1),
    bytes: bytes * (times + 1),
    lead,
    ms: ms * (times + 1) + frames * times * gap,
  }),
  apply(plan, { times, gap }) {
    return mapFrameSteps(plan, 'no frame to repeat', (pieces) => {
      const copy = pieces.map((piece, i) => (i === 0 ? { ...piece, waitMs: gap } : piece));
      return [...pieces, ...Array.from({ length: times }, () => copy).flat()];
    });
  },
};
