import { z } from 'zod';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';

/** `truncate: n`: only the first n bytes of the frame; with a negative n, all but the last -n. */
export const truncate: FaultKind<number> = {
  does: 'Sends only the first n bytes of the frame. A negative number cuts n bytes off the end; 0 sends nothing.',
  schema: z.int({ error: 'a number of bytes to keep, or a negative number to cut' }),
  apply(plan, length, context) {
    return mapFrames(plan, context, 'no frame that is longer', (frame) => {
      const kept = length < 0 ? Math.max(0, frame.length + length) : length;
      return kept < frame.length ? frame.slice(0, kept) : undefined;
    });
  },
};
