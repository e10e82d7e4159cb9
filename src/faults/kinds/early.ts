import { z } from 'zod';
import type { FaultKind } from '../kind.js';
import { stepsOf } from '../plan.js';

/** `early: true`: the reply leaves at once, before t3.5 is over. */
export const early: FaultKind<true> = {
  does: 'Sends the reply at once, before t3.5 is over.',
  schema: z.literal(true, { error: 'true' }),
  needs: 'turnaround',
  apply(plan) {
    const steps = stepsOf(plan);
    return steps.length > 0 ? { kind: 'send', early: true, steps } : 'nothing is sent that could be early';
  },
};
