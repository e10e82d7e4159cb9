import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';
import { pick } from '../random.js';

/**
 * `corrupt: n`: n different bits of the frame are flipped, anywhere in it, after the CRC was computed. On an ASCII line
 * only the lower seven bits of each byte are flipped.
 */
export const corrupt: FaultKind<number> = {
  does: 'Flips n different bits, anywhere in the frame.',
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
