import { concatBytes } from '../../protocol/bytes.js';
import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';
import { hasFrame, mapFrames } from '../plan.js';
import { randomBytes } from '../random.js';

/** `extend: n`: n random bytes after the frame. */
export const extend: FaultKind<number> = {
  schema: wholeNumber('a number of bytes', 1),
  extent: ({ bytes, ms }, count) => ({ bytes: bytes + count, ms }),
  apply(plan, count, { random }) {
    if (!hasFrame(plan)) return 'no frame to extend';
    return mapFrames(plan, (frame) => concatBytes(frame, randomBytes(random, count)));
  },
};
