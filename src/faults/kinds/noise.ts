import { concatBytes } from '../../protocol/bytes.js';
import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';
import { mapFrameSteps, stepsOf, withOneFrame } from '../plan.js';
import { randomBytes } from '../random.js';

/** `noise: n`: n random bytes right before the frame, or alone where nothing is sent. */
export const noise: FaultKind<number> = {
  schema: wholeNumber('a number of bytes', 1),
  extent: ({ bytes, ms }, count) => ({ bytes: bytes + count, ms }),
  apply(plan, count, { random }) {
    if (stepsOf(plan).length === 0) return withOneFrame(plan, randomBytes(random, count));
    return mapFrameSteps(plan, ([first, ...rest]) => {
      if (!first) return rest;
      return [{ ...first, bytes: concatBytes(randomBytes(random, count), first.bytes) }, ...rest];
    });
  },
};
