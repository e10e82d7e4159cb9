import { z } from 'zod';
import { section, wholeNumber } from '../../../common/schema/parts.js';
import { setWord, wordAt } from '../../../modbus/protocol/bytes.js';
import { type FaultContext, fault } from '../kind.js';
import { mapFrames } from '../plan.js';
import { changeFields } from './fields.js';

/**
 * Makes the schema of a word. A number is sent as it is. Text with a sign is added to what a good device
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

/** Returns the word after a change. Differences wrap around, as counters of 16 bits do. */
function otherWord(word: number, change: AnotherWord): number {
  return typeof change === 'number' ? change : (word + change.by) & 0xffff;
}

/** Faults in the MBAP header of Modbus TCP (Messaging on TCP/IP V1.0b, 3.1.3). */
export const HEADER = {
  transaction: fault({
    does: 'Sends another transaction identifier (Modbus TCP): a number, that of this client’s previous reply, its own with the two bytes swapped, or one so much more or less ("+1").',
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
      return changeFields(plan, context, 'no frame with another transaction identifier', (fields) => {
        const { transactionId: own } = fields;
        const transactionId = wanted === 'swapped' ? swapped(own) : otherWord(own, wanted);
        return transactionId === own ? undefined : { transactionId };
      });
    },
  }),

  /** The faults that change a field make the header anew, so this fault comes after them. */
  mbap: fault({
    does: 'Sends another protocol identifier or length in the MBAP header (Modbus TCP). Text with a sign ("+2") is added to the true value.',
    schema: section({
      protocol: anotherWord('a protocol identifier').describe('Protocol identifier.').optional(),
      length: anotherWord('a length')
        .describe('Number of bytes that are said to follow the length.')
        .optional(),
    }).refine(({ protocol, length }) => protocol !== undefined || length !== undefined, {
      error: 'expected {protocol, length}, or one of them',
    }),
    needs: 'mbap',
    apply: (plan, { protocol = SAME, length = SAME }, context) =>
      mapFrames(plan, context, 'no frame with another MBAP header', (frame) => {
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
