import { z } from 'zod';
import { bounded, numberFrom, section, UNLIMITED, wholeNumber } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { stepsOf } from '../../../modbus/protocol/reply-plan.js';
import { fault } from '../kind.js';
import { countFrames, cutFrames, withSteps } from '../plan.js';

/** The maximum number of delays in a list. */
const MAX_DELAYS = 10_000;

/** Faults that change when the bytes of a reply leave, but not the bytes. */
export const TIMING = {
  delay: fault({
    does: 'Delays the reply.',
    schema: z.union(
      [
        duration().transform((ms) => ({ ms: [ms], jitter: 0 })),
        bounded(z.array(duration()).min(1), MAX_DELAYS, 'delays')
          .transform((ms) => ({ ms, jitter: 0 }))
          .describe('The delays of successive replies. The list repeats.'),
        section({
          ms: duration().describe('How long to delay the reply.'),
          jitter: duration()
            .default(0)
            .describe('Varies the delay at random, by up to this much in either direction.'),
        }).transform(({ ms, jitter }) => ({ ms: [ms], jitter })),
      ],
      { error: 'a number of milliseconds, 0 or more, a list of them, or {ms, jitter}' },
    ),
    apply(plan, { ms, jitter }, { random, turn }) {
      const [first, ...rest] = stepsOf(plan);
      if (!first) return 'no reply to delay';
      // Before a rule is armed, its longest delay is tried.
      const planned = turn === 0 ? longest(ms) : (ms[(turn - 1) % ms.length] as number);
      const late = Math.max(0, planned + jitter * (2 * random.next() - 1));
      return withSteps(plan, [{ ...first, waitMs: first.waitMs + late }, ...rest]);
    },
  }),

  early: fault({
    does: 'Sends the reply at once, before t3.5 has passed.',
    schema: z.literal(true, { error: 'true' }),
    needs: 'turnaround',
    apply(plan) {
      const steps = stepsOf(plan);
      return steps.length > 0 ? { kind: 'send', early: true, steps } : 'no reply to send early';
    },
  }),

  coalesce: fault({
    does: 'Holds the reply back until the next reply on the same connection, and sends both in one segment (TCP). The held reply is lost if the connection ends first.',
    schema: z.literal(true, { error: 'true' }),
    needs: 'stream',
    apply: (plan) =>
      plan.kind === 'send' && countFrames(plan) > 0 ? { ...plan, coalesce: true } : 'no reply to hold back',
  }),

  split: fault({
    does: 'Sends the frame in pieces, with pauses between them.',
    schema: section({
      at: z
        .union([wholeNumber(1, UNLIMITED, 'a byte index'), z.enum(['middle', 'each'])], {
          error: 'a byte index, "middle" or "each"',
        })
        .describe('Where to cut the frame: before this byte, in the middle, or before each byte.'),
      gap: duration().describe('Pause between two pieces.'),
    }),
    apply(plan, { at, gap }, context) {
      const cannot = typeof at === 'number' ? `no frame with more than ${at} bytes` : 'no frame to split';
      const cuts = (length: number): readonly [number, number] => {
        if (at === 'each') return [1, length];
        const offset = at === 'middle' ? length >> 1 : at;
        return [offset, offset];
      };
      return cutFrames(plan, context, cannot, cuts, gap);
    },
  }),

  gap: fault({
    does: 'Pauses inside the frame. A pause longer than t1.5 breaks the frame.',
    schema: section({
      after: wholeNumber(1, UNLIMITED, 'a number of bytes').describe('Number of bytes before the pause.'),
      characters: numberFrom(0, UNLIMITED, 'character times').describe(
        'Length of the pause, in character times.',
      ),
    }),
    needs: 'characterTime',
    apply(plan, { after, characters }, context) {
      const cannot = `no frame with more than ${after} bytes`;
      return cutFrames(plan, context, cannot, () => [after, after], characters * context.characterTime);
    },
  }),
};

function longest(delays: readonly number[]): number {
  return delays.reduce((most, ms) => Math.max(most, ms), 0);
}
