import { concatBytes } from '../../protocol/bytes.js';
import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import { WORK } from '../budget.js';
import type { FaultKind } from '../kind.js';
import { countFrames, mapFrameSteps, withOneFrame } from '../plan.js';
import { randomBytes, randomBytesFor } from '../random.js';

/** `noise: n`: n random bytes right before the frame, or alone where no frame is sent. */
export const noise: FaultKind<number> = {
  does: 'Sends n random bytes before the frame, or alone when there is no frame.',
  schema: wholeNumber(1, UNLIMITED, 'a number of bytes'),
  apply(plan, count, context) {
    const frames = countFrames(plan);
    if (frames === 0) return withOneFrame(plan, randomBytes(context, count));
    const added = randomBytesFor(frames, context, count);
    return mapFrameSteps(plan, context, 'no frame', ([first, ...rest]) => {
      if (!context.budget.spend({ work: WORK.byte * first.bytes.length })) return undefined;
      return [{ ...first, bytes: concatBytes(added(), first.bytes) }, ...rest];
    });
  },
};
