import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';
import { pick } from '../random.js';

/**
 * `corrupt: n`: n different bits of the frame flipped after the CRC was made, anywhere in it. On an ASCII line they
 * are bits that seven data bits carry.
 */
export const corrupt: FaultKind<number> = {
  schema: wholeNumber(1, 2048, 'a number of bits'),
  apply(plan, count, context) {
    const { characterBits } = context.framing;
    return mapFrames(plan, context, 'no frame to corrupt', (frame) => {
      const corrupted = frame.slice();
      for (const bit of pick(context, count, characterBits * frame.length)) {
        const index = Math.floor(bit / characterBits);
        corrupted[index] = (corrupted[index] as number) ^ (1 << (bit % characterBits));
      }
      return corrupted;
    });
  },
};
