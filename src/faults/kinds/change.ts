import { z } from 'zod';
import { dataOffset } from '../../protocol/response-data.js';
import { section } from '../../schema/parts.js';
import { changePdu } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';
import { percent, probability } from '../parameters.js';
import { pick } from '../random.js';

/**
 * `change: percent`: that share of the data bytes is altered, at least one unless it is 0. The frame stays valid, so
 * only a client that checks plausibility notices. `{percent, probability}` alters only some of the replies.
 */
export const change: FaultKind<{ percent: number; probability: number }> = {
  does: 'Alters this share of the data bytes, at least one. The frame is valid: only a client that checks values notices.',
  schema: z.union(
    [
      percent.transform((percent) => ({ percent, probability: 1 })),
      section({
        percent: percent.describe('Share of the data bytes.'),
        probability: probability.describe('Chance that a reply is altered.'),
      }),
    ],
    { error: 'percent from 0 to 100, or {percent, probability}' },
  ),
  apply(plan, { percent, probability }, context) {
    const { random } = context;
    if (random.next() >= probability) return 'spared this time, by its probability';
    return changePdu(plan, context, 'no data to change', (pdu) => {
      const first = dataOffset(pdu);
      const length = pdu.length - first;
      const count = Math.ceil((length * percent) / 100);
      if (count === 0) return undefined;
      const changed = pdu.slice();
      for (const index of pick(context, count, length)) {
        // XOR with 1 to 255 always changes the byte.
        changed[first + index] = (changed[first + index] as number) ^ (1 + random.below(255));
      }
      return changed;
    });
  },
};
