import { z } from 'zod';
import type { Step } from '../../protocol/reply-plan.js';
import { section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { stepsOf, withSteps } from '../plan.js';

const how = z.enum(['end', 'reset'], { error: '"end" or "reset"' });

/**
 * `close: "end" | "reset"`: the connection is closed after the reply, in an orderly way or with a reset. `{how, after}`
 * closes it after `after` bytes.
 */
export const close: FaultKind<{ how: 'end' | 'reset'; after: number }> = {
  does: 'Closes the connection after the reply, or after some bytes of it (TCP).',
  schema: z.union(
    [
      how.transform((how) => ({ how, after: Number.POSITIVE_INFINITY })),
      section({
        how: how.describe('`end` closes it in an orderly way, `reset` with a TCP reset.'),
        after: wholeNumber(0, UNLIMITED, 'a number of bytes').describe('Bytes of the reply to send first.'),
      }),
    ],
    { error: '"end", "reset" or {how, after: bytes}' },
  ),
  needs: 'close',
  apply(plan, { how, after }) {
    const steps = stepsOf(plan);
    const kept = firstBytes(steps, after);
    // When no byte is sent first, the connection is closed at the time of the reply.
    const waitMs = kept.length === 0 ? (steps[0]?.waitMs ?? 0) : 0;
    return withSteps(plan, [...kept, { kind: 'close', waitMs, how }]);
  },
};

function firstBytes(steps: readonly Step[], count: number): Step[] {
  const kept: Step[] = [];
  let left = count;
  for (const step of steps) {
    if (step.kind === 'bytes' && step.bytes.length >= left) {
      return left > 0 ? [...kept, { ...step, bytes: step.bytes.subarray(0, left) }] : kept;
    }
    kept.push(step);
    if (step.kind === 'bytes') left -= step.bytes.length;
  }
  return kept;
}
