import { concatBytes } from '../../protocol/bytes.js';
import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';
import { randomBytes } from '../random.js';

/** `extend: n`: n random bytes after the frame. */
export const extend: FaultKind<number> = {
  schema: wholeNumber(1, UNLIMITED, 'a number of bytes'),
  extent: (before, count) => ({ ...before, bytes: before.bytes + before.frames * count }),
  apply(plan, count, { random, framing }) {
    return mapFrames(plan, 'no frame to extend', (frame) =>
      concatBytes(frame, randomBytes(random, count, framing.characterBits)),
    );
  },
};
