import { z } from 'zod';
import { numberFrom, probability, section, wholeNumber } from '../../../common/schema/parts.js';
import { packWords, setWord, wordAt } from '../../../modbus/protocol/bytes.js';
import type { AduContent } from '../../../modbus/protocol/framing.js';
import { MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import { dataOffset, hasByteCount } from '../../../modbus/protocol/pdu.js';
import type { ReplyPlan } from '../../../modbus/protocol/reply-plan.js';
import { type Applied, type FaultContext, fault } from '../kind.js';
import { mapFrames, pick } from '../plan.js';

const WORDS = `a list of 1 to ${MAX_REGISTERS_READ} words, or "swapped"`;

const percent = numberFrom(0, 100, 'percent');

/** Faults that change a field of a frame. The check value or the length is recomputed, so the frame stays valid. */
export const FIELDS = {
  unit: fault({
    does: 'Sends a different unit identifier. The CRC matches the changed frame.',
    schema: wholeNumber(0, 255, 'a unit identifier'),
    apply: (plan, unitId, context) => changeFields(plan, context, 'no frame to change', () => ({ unitId })),
  }),

  function: fault({
    does: 'Sends a different function code. The CRC matches the changed frame.',
    schema: wholeNumber(0, 255, 'a function code'),
    apply: (plan, code, context) =>
      changePdu(plan, context, 'no frame to change', (pdu) => withByte(pdu, 0, code)),
  }),

  byteCount: fault({
    does: 'Sends a wrong byte count. The data are unchanged, and the CRC matches the changed frame.',
    schema: wholeNumber(0, 255, 'a byte count'),
    apply: (plan, count, context) =>
      changePdu(plan, context, 'a response without a byte count', (pdu) =>
        hasByteCount(pdu) ? withByte(pdu, 1, count) : undefined,
      ),
  }),

  values: fault({
    does: 'Sends these words instead of the true ones, or swaps the true words in pairs ("swapped"). The frame is valid.',
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
    does: 'Alters this share of the data bytes, at least one byte. The frame is valid, so only a client that checks the values notices.',
    schema: z.union(
      [
        percent.transform((percent) => ({ percent, probability: 1 })),
        section({
          percent: percent.describe('Share of the data bytes.'),
          probability: probability.describe('Chance that a reply is altered.'),
        }),
      ],
      { error: 'a percentage from 0 to 100, or {percent, probability}' },
    ),
    apply(plan, { percent, probability }, context) {
      const { random } = context;
      if (random.next() >= probability) return 'not altered this time: its probability is below 1';
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
 * Returns the plan with some fields of its frames changed. `change` returns undefined if it can't act on a
 * frame; `cannot` is the reason to report if it acted on none.
 */
function changeFields(
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

/** Returns the data with the words of each pair swapped, like 32-bit values with the low word first. */
function swappedWords(data: Uint8Array): Uint8Array {
  return data.slice(0, data.length & ~3).map((_, i) => data[i ^ 2] as number);
}

/** Works like `changeFields`, but on a copy of the PDU alone, which `change` may modify. */
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

/** Replaces the byte at `at`, if the PDU has one there: an earlier fault may have cut it. */
function withByte(pdu: Uint8Array, at: number, byte: number): Uint8Array {
  pdu[at] = byte;
  return pdu;
}

/**
 * Creates the schema of a word. A number is sent as it is. Text with a sign is added to what a correct device
 * would send.
 */
function anotherWord(what: string) {
  const error = `${what} from 0 to 65535, or a difference in quotes, as in "+1" or "-2"`;
  return z.union(
    [
      wholeNumber(0, 0xffff, what),
      z
        .string()
        .regex(/^[+-]\d{1,5}$/)
        .transform((text) => ({ by: Number(text) })),
    ],
    { error },
  );
}

type AnotherWord = number | { readonly by: number };

/** Returns the word after a change. Differences wrap around, like 16-bit counters. */
function otherWord(word: number, change: AnotherWord): number {
  return typeof change === 'number' ? change : (word + change.by) & 0xffff;
}

/** Faults in the MBAP header of Modbus TCP (Messaging on TCP/IP V1.0b, 3.1.3). */
export const HEADER = {
  transaction: fault({
    does: 'Sends a different transaction identifier (Modbus TCP): a number, the identifier of the previous reply to this client, the right one with its two bytes swapped, or the right one plus or minus a number ("+1").',
    schema: z.union(
      [
        z.enum(['previous', 'swapped'], { error: '"previous" or "swapped"' }),
        anotherWord('a transaction identifier'),
      ],
      {
        error:
          '"previous", "swapped", a transaction identifier from 0 to 65535, or a difference in quotes, as in "+1"',
      },
    ),
    needs: 'transaction',
    apply(plan, change, context) {
      const wanted = change === 'previous' ? previousTransaction(context) : change;
      if (wanted === undefined) return 'no earlier reply to this client';
      return changeFields(
        plan,
        context,
        'no frame with a transaction identifier that would change',
        (fields) => {
          const { transactionId: own } = fields;
          const transactionId = wanted === 'swapped' ? swapped(own) : otherWord(own, wanted);
          return transactionId === own ? undefined : { transactionId };
        },
      );
    },
  }),

  /** The faults that change a field rebuild the header, so this fault comes after them. */
  mbap: fault({
    does: 'Sends a different protocol identifier or length in the MBAP header (Modbus TCP). A signed number in quotes ("+2") is added to the true value.',
    schema: section({
      protocol: anotherWord('a protocol identifier').describe('Protocol identifier.').optional(),
      length: anotherWord('a length')
        .describe('Value of the length field: the number of bytes that should follow it.')
        .optional(),
    }).refine(({ protocol, length }) => protocol !== undefined || length !== undefined, {
      error: 'expected {protocol, length}, or one of them',
    }),
    needs: 'mbap',
    apply: (plan, { protocol = SAME, length = SAME }, context) =>
      mapFrames(plan, context, 'no frame with an MBAP header that would change', (frame) => {
        if (frame.length < LENGTH_AT + 2) return undefined;
        const changed = frame.slice();
        setWord(changed, PROTOCOL_AT, otherWord(wordAt(frame, PROTOCOL_AT), protocol));
        setWord(changed, LENGTH_AT, otherWord(wordAt(frame, LENGTH_AT), length));
        return changed.some((byte, i) => byte !== frame[i]) ? changed : undefined;
      }),
  }),
};

const PROTOCOL_AT = 2;
const LENGTH_AT = 4;
const SAME: AnotherWord = { by: 0 };

function previousTransaction({ previousReply, framing }: FaultContext): number | undefined {
  return previousReply && framing.fields(previousReply)?.transactionId;
}

function swapped(word: number): number {
  return ((word & 0xff) << 8) | (word >> 8);
}
