import { z } from 'zod';
import { type FaultKind, LONGEST_FRAME } from '../kind.js';
import { withOneFrame } from '../plan.js';

/** `stale: true`: the previous reply to this client, byte for byte, instead of this one. */
export const stale: FaultKind<true> = {
  schema: z.literal(true, { error: 'true' }),
  // Where there is no earlier reply, this one stays.
  extent: (before) => ({ ...before, bytes: Math.max(before.bytes, LONGEST_FRAME) }),
  apply: (plan, _, { previousReply }) =>
    previousReply ? withOneFrame(plan, previousReply) : 'no earlier reply to this client',
};
