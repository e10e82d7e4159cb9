import { z } from 'zod';
import type { FaultKind } from '../kind.js';
import { hasFrame, mapFrames } from '../plan.js';

/** `truncate: n`: only the first n bytes of the frame; with a negative n, all but the last -n. */
export const truncate: FaultKind<number> = {
  schema: z.int({ error: 'a number of bytes to keep, or a negative number to cut' }),
  apply(plan, length) {
    if (!hasFrame(plan)) return 'no frame to cut';
    return mapFrames(plan, (frame) =>
      frame.slice(0, length < 0 ? Math.max(0, frame.length + length) : length),
    );
  },
};
