import { z } from 'zod';
import { numberFrom, probability, section, wholeNumber } from '../../../common/schema/parts.js';
import { packWords } from '../../../modbus/protocol/bytes.js';
import type { AduContent } from '../../../modbus/protocol/framing.js';
import { MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import { dataOffset, hasByteCount } from '../../../modbus/protocol/pdu.js';
import type { ReplyPlan } from '../../../modbus/protocol/reply-plan.js';
import { type Applied, type FaultContext, fault } from '../kind.js';
import { mapFrames } from '../plan.js';
import { pick } from '../random.js';

const WORDS = `a list of 1 to ${MAX_REGISTERS_READ} words, or "swapped"`;

const percent = numberFrom(0, 100, 'percent');

/**
 * Faults that change a field of a frame. The check value or the length is computed anew, so the frame stays
 * valid.
 */
export const FIELDS = {
  unit: fault({
    does: 'Sends another unit identifier. The CRC fits the frame that is sent.',
    schema: wholeNumber(0, 255, 'a unit identifier'),
    apply: (plan, unitId, context) => changeFields(plan, context, 'no frame to change', () => ({ unitId })),
  }),

  function: fault({
    does: 'Sends another function code. The CRC fits the frame that is sent.',
    schema: wholeNumber(0, 255, 'a function code'),
    apply: (plan, code, context) =>
      changePdu(plan, context, 'no frame to change', (pdu) => withByte(pdu, 0, code)),
  }),

  byteCount: fault({
    does: 'Sends a wrong byte count. The data stay as they are, and the CRC fits the frame that is sent.',
    schema: wholeNumber(0, 255, 'a byte count'),
    apply: (plan, count, context) =>
      changePdu(plan, context, 'a response without a byte count', (pdu) =>
        hasByteCount(pdu) ? withByte(pdu, 1, count) : undefined,
      ),
  }),

  values: fault({
    does: 'Sends these words in place of the true ones, or each two of the true ones swapped ("swapped"). The frame is valid.',
    schema: z.union(
      [
        z.literal('swapped'),
        z
          .array(wholeNumber(0, 0xffff, 'a word'))
          .min(1, { error: WORDS })
          .max(MAX_REGISTERS_READ, { error: WORDS }),
      ],
      { error: WORDS },
    ),
    apply: (plan, words, context) =>
      changePdu(plan, context, 'no values to replace', (pdu) => {
        const data = pdu.subarray(dataOffset(pdu));
        const others = words === 'swapped' ? swappedWords(data) : packWords(words).subarray(0, data.length);
        if (others.length === 0) return undefined;
        data.set(others);
        return pdu;
      }),
  }),

  change: fault({
    does: 'Alters this share of the data bytes, at least one. The frame is valid: only a client that checks values notices.',
    schema: z.union(
      [
        percent.transform((percent) => ({ percent, probability: 1 })),
        section({
          percent: percent.describe('Share of the data bytes.'),
          probability: probability.describe('Chance that a reply is altered.'),
        }),
      ],
      { error: 'percent from 0 to 100, or {percent, probability}' },
    ),
    apply(plan, { percent, probability }, context) {
      const { random } = context;
      if (random.next() >= probability) return 'spared this time, by its probability';
      return changePdu(plan, context, 'no data to change', (pdu) => {
        const first = dataOffset(pdu);
        const length = pdu.length - first;
        const count = Math.ceil((length * percent) / 100);
        if (count === 0) return undefined;
        for (const index of pick(context, count, length)) {
          // XOR with 1 to 255 always changes the byte.
          pdu[first + index] = (pdu[first + index] as number) ^ (1 + random.below(255));
        }
        return pdu;
      });
    },
  }),
};

/**
 * Returns the plan with some fields of its frames changed. `change` returns undefined where it can't act, and
 * `cannot` is the reason to report when it acted on no frame.
 */
export function changeFields(
  plan: ReplyPlan,
  context: FaultContext,
  cannot: string,
  change: (fields: AduContent) => Partial<AduContent> | undefined,
): Applied {
  return mapFrames(plan, context, cannot, (frame) => {
    const fields = context.framing.fields(frame);
    const changes = fields && change(fields);
    return changes && context.framing.encode({ ...fields, ...changes });
  });
}

/**
 * Returns the data with the two words of each pair swapped, like 32-bit values whose low word comes first.
 */
function swappedWords(data: Uint8Array): Uint8Array {
  return data.slice(0, data.length & ~3).map((_, i) => data[i ^ 2] as number);
}

/** Does as `changeFields`, for the PDU alone, which is a copy that `change` may change. */
function changePdu(
  plan: ReplyPlan,
  context: FaultContext,
  cannot: string,
  change: (pdu: Uint8Array) => Uint8Array | undefined,
): Applied {
  return changeFields(plan, context, cannot, (fields) => {
    const pdu = change(fields.pdu);
    return pdu && { pdu };
  });
}

/** Puts another byte at `at`, if the PDU has a byte there: an earlier fault may have cut it. */
function withByte(pdu: Uint8Array, at: number, byte: number): Uint8Array {
  pdu[at] = byte;
  return pdu;
}
