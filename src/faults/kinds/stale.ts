import { z } from 'zod';
import type { FaultKind } from '../kind.js';
import { withOneFrame } from '../plan.js';

/** `stale: true`: the previous reply to this client, byte for byte, instead of this one. */
export const stale: FaultKind<true> = {
  does: 'Sends the reply to this client’s previous request once more, byte for byte.',
  schema: z.literal(true, { error: 'true' }),
  apply: (plan, _, { previousReply }) =>
    previousReply ? withOneFrame(plan, previousReply) : 'no earlier reply to this client',
};
