import { z } from 'zod';
import { duration } from '../../schema/duration.js';
import { section } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { stepsOf, withSteps } from '../plan.js';

/** `delay: ms` or `delay: {ms, jitter}`: the reply begins later by `ms`, give or take up to `jitter` ms. */
export const delay: FaultKind<{ ms: number; jitter: number }> = {
  does: 'Delays the reply.',
  schema: z.union(
    [
      duration().transform((ms) => ({ ms, jitter: 0 })),
      section({
        ms: duration().describe('How long to delay the reply.'),
        jitter: duration()
          .default(0)
          .describe('Varies the delay at random, by up to this much in both directions.'),
      }),
    ],
    { error: 'a number of milliseconds, 0 or more, or {ms, jitter}' },
  ),
  apply(plan, { ms, jitter }, { random }) {
    const [first, ...rest] = stepsOf(plan);
    if (!first) return 'nothing is sent that could be late';
    const late = Math.max(0, ms + jitter * (2 * random.next() - 1));
    return withSteps(plan, [{ ...first, waitMs: first.waitMs + late }, ...rest]);
  },
};
