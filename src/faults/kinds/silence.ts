import { z } from 'zod';
import { silence as silentPlan } from '../../protocol/reply-plan.js';
import type { FaultKind } from '../kind.js';

/** `silence: true`: no reply, as if the device were deaf. It does not execute the request. */
export const silence: FaultKind<true> = {
  does: 'Sends no reply. The device does not execute the request.',
  schema: z.literal(true, { error: 'true' }),
  prevents: true,
  apply: () => silentPlan('fault'),
};
