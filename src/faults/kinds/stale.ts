import { z } from 'zod';
import { MAX_ASCII_LENGTH } from '../../protocol/ascii.js';
import type { FaultKind } from '../kind.js';
import { withOneFrame } from '../plan.js';

/** `stale: true`: the previous reply to this client, byte for byte, instead of this one. */
export const stale: FaultKind<true> = {
  schema: z.literal(true, { error: 'true' }),
  // Where there is no earlier reply, this one stays.
  extent: (before) => ({
    ...before,
    frames: Math.max(1, before.frames),
    bytes: Math.max(before.bytes, MAX_ASCII_LENGTH),
  }),
  apply: (plan, _, { previousReply }) =>
    previousReply ? withOneFrame(plan, previousReply) : 'no earlier reply to this client',
};
