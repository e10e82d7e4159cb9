import { z } from 'zod';
import type { SendStep } from '../../protocol/reply-plan.js';
import type { FaultKind } from '../kind.js';
import { stepsOf, withOneFrame, withSteps } from '../plan.js';

/**
 * `echo: true`: the request's own bytes right before the reply, as from a two-wire adapter that receives what it sends.
 * When no reply is sent, the echo is sent alone. Clients must skip the echo. It is encoded anew from the request, so an
 * ASCII echo has upper-case digits, whatever the client wrote.
 */
export const echo: FaultKind<true> = {
  does: 'Sends the bytes of the request right before the reply, like a two-wire adapter that hears what it sends.',
  schema: z.literal(true, { error: 'true' }),
  apply(plan, _, { framing, unitId, transactionId, requestPdu }) {
    const bytes = framing.encode({ unitId, transactionId, pdu: requestPdu });
    const steps = stepsOf(plan);
    const index = steps.findIndex(({ kind }) => kind === 'bytes');
    const first = steps[index];
    if (!first) return withOneFrame(plan, bytes);
    // The echo is a separate frame at the time of the reply. The reply follows without a pause.
    const heard: SendStep = { kind: 'bytes', waitMs: first.waitMs, bytes, continues: false };
    return withSteps(plan, [
      ...steps.slice(0, index),
      heard,
      { ...first, waitMs: 0 },
      ...steps.slice(index + 1),
    ]);
  },
};
