import { concatBytes } from '../../protocol/bytes.js';
import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { countFrames, mapFrames } from '../plan.js';
import { randomBytesFor } from '../random.js';

/** `extend: n`: n random bytes after the frame. */
export const extend: FaultKind<number> = {
  does: 'Sends n random bytes after the frame.',
  schema: wholeNumber(1, UNLIMITED, 'a number of bytes'),
  apply(plan, count, context) {
    const added = randomBytesFor(countFrames(plan), context, count);
    return mapFrames(plan, context, 'no frame to extend', (frame) => concatBytes(frame, added()));
  },
};
