import { z } from 'zod';
import { hexadecimal, oneOfKinds, section, UNLIMITED, wholeNumber } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { documentAs } from '../../../common/schema/written-as.js';
import { MAX_PDU_LENGTH } from '../../../modbus/protocol/limits.js';
import { exceptionResponse } from '../../../modbus/protocol/pdu.js';
import {
  plainReply,
  type SendStep,
  type Step,
  silence,
  stepsOf,
} from '../../../modbus/protocol/reply-plan.js';
import { fault } from '../kind.js';
import { repeatFrames, withOneFrame, withSteps } from '../plan.js';
import { DAMAGE } from './damage.js';

/** What can happen to an echo: like a reply, it can be corrupted on the line. */
const SPOILS_ECHO = new Map(
  Object.entries({
    corrupt: DAMAGE.corrupt,
    truncate: DAMAGE.truncate,
    drop: DAMAGE.drop,
    insert: DAMAGE.insert,
    noise: DAMAGE.noise,
    extend: DAMAGE.extend,
  }),
);

const echoSchema = z.union([z.literal(true), oneOfKinds('damage of an echo', '{corrupt: 3}', SPOILS_ECHO)], {
  error: `true, or one of ${[...SPOILS_ECHO.keys()].join(', ')} with its parameters, as in {corrupt: 3}`,
});
documentAs(echoSchema, () =>
  z.union([
    z.literal(true),
    ...Array.from(SPOILS_ECHO, ([name, { schema, does }]) =>
      z.strictObject({ [name]: schema.describe(does) }),
    ),
  ]),
);

const how = z.enum(['end', 'reset'], { error: '"end" or "reset"' });

/** Faults that send something other than the reply, something in addition to it, or nothing. */
export const REPLIES = {
  exception: fault({
    does: 'Sends an exception response with this code. The device does not execute the request.',
    schema: wholeNumber(0, 255, 'an exception code'),
    prevents: true,
    apply: (plan, code, { framing, requestPdu, unitId, transactionId }) => {
      const pdu = exceptionResponse(requestPdu[0] as number, code);
      return withOneFrame(plan, framing.encode({ unitId, transactionId, pdu }));
    },
  }),

  pdu: fault({
    does: 'Sends this PDU (any function code, any data) in a valid frame instead of the reply. The device still executes the request.',
    schema: hexadecimal(MAX_PDU_LENGTH, 'a PDU', '83 02'),
    apply: (plan, pdu, { framing, unitId, transactionId }) =>
      withOneFrame(plan, framing.encode({ unitId, transactionId, pdu })),
  }),

  silence: fault({
    does: 'Sends no reply. The device does not execute the request.',
    schema: z.literal(true, { error: 'true' }),
    prevents: true,
    apply: () => silence('fault'),
  }),

  duplicate: fault({
    does: 'Sends copies of the frame after the original.',
    schema: section({
      times: wholeNumber(1, UNLIMITED, 'a number of copies').describe('Number of copies.'),
      gap: duration().default(0).describe('Pause before each copy.'),
    }),
    apply: (plan, { times, gap }, context) => repeatFrames(plan, context, 'no frame to repeat', times, gap),
  }),

  stale: fault({
    does: 'Sends the reply to this client’s previous request again, byte for byte.',
    schema: z.literal(true, { error: 'true' }),
    apply: (plan, _, { previousReply }) =>
      previousReply ? withOneFrame(plan, previousReply) : 'no earlier reply to this client',
  }),

  /**
   * The echo is encoded again from the request, so on an ASCII line it has upper-case digits, whatever the
   * client wrote.
   */
  echo: fault({
    does: 'Sends the bytes of the request right before the reply, like a two-wire adapter that receives what it sends. `{corrupt: 3}`, `{truncate: 5}` and similar faults damage this echo.',
    schema: echoSchema,
    apply(plan, spoilt, context) {
      const { framing, unitId, transactionId, requestPdu } = context;
      const whole = plainReply(framing.encode({ unitId, transactionId, pdu: requestPdu }));
      const echo = spoilt === true ? whole : spoilt.apply(whole, context);
      if (typeof echo === 'string') return echo;
      const [heard] = stepsOf(echo);
      if (heard?.kind !== 'bytes') return 'nothing of the echo is left';
      const steps = stepsOf(plan);
      const index = steps.findIndex(({ kind }) => kind === 'bytes');
      const first = steps[index];
      if (!first) return withOneFrame(plan, heard.bytes);
      // The echo is a separate frame at the time of the reply. The reply follows without a pause.
      const before: SendStep = { ...heard, waitMs: first.waitMs };
      return withSteps(plan, steps.toSpliced(index, 1, before, { ...first, waitMs: 0 }));
    },
  }),

  break: fault({
    does: 'Holds the line in the break state for this time, before the reply or instead of it (real serial ports).',
    schema: duration(),
    needs: 'break',
    apply(plan, ms) {
      const [first, ...rest] = stepsOf(plan);
      const step = { kind: 'break', waitMs: first?.waitMs ?? 0, ms } as const;
      return withSteps(plan, first ? [step, { ...first, waitMs: 0 }, ...rest] : [step]);
    },
  }),

  close: fault({
    does: 'Closes the connection after the reply, or after some bytes of it (TCP).',
    schema: z.union(
      [
        how.transform((how) => ({ how, after: Number.POSITIVE_INFINITY })),
        section({
          how: how.describe('`end` closes the connection normally (FIN), `reset` with a TCP reset (RST).'),
          after: wholeNumber(0, UNLIMITED, 'a number of bytes').describe('Bytes of the reply to send first.'),
        }),
      ],
      { error: '"end", "reset" or {how, after: bytes}' },
    ),
    needs: 'close',
    apply(plan, { how, after }) {
      const steps = stepsOf(plan);
      const kept = firstBytes(steps, after);
      // If no byte is sent first, the connection is closed at the time of the reply.
      const waitMs = kept.length === 0 ? (steps[0]?.waitMs ?? 0) : 0;
      return withSteps(plan, [...kept, { kind: 'close', waitMs, how }]);
    },
  }),
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
