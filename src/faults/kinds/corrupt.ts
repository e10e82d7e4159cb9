import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';
import { pick } from '../random.js';

/** `corrupt: n`: n different bits of the frame flipped after the CRC was made, anywhere in it. */
export const corrupt: FaultKind<number> = {
  schema: wholeNumber(1, 2048, 'a number of bits'),
  apply(plan, count, { random }) {
    return mapFrames(plan, 'no frame to corrupt', (frame) => {
      const corrupted = frame.slice();
      for (const bit of pick(random, count, 8 * frame.length)) {
        corrupted[bit >> 3] = (corrupted[bit >> 3] as number) ^ (1 << (bit & 7));
      }
      return corrupted;
    });
  },
};
