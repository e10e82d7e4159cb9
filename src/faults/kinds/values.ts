import { z } from 'zod';
import { packWords } from '../../protocol/bytes.js';
import { MAX_REGISTERS_READ } from '../../protocol/limits.js';
import { dataOffset } from '../../protocol/response-data.js';
import { wholeNumber } from '../../schema/parts.js';
import { changePdu } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';

/** `values: [words]`: these words instead of the true ones, as many as the response has room for; the frame is valid. */
export const values: FaultKind<number[]> = {
  does: 'Sends these words in place of the true ones. The frame is valid.',
  schema: z
    .array(wholeNumber(0, 0xffff, 'a word'), { error: 'a list of words' })
    .min(1, { error: 'at least one word' })
    .max(MAX_REGISTERS_READ, { error: `at most ${MAX_REGISTERS_READ} words` }),
  apply: (plan, words, context) =>
    changePdu(plan, context, 'no values to replace', (pdu) => {
      const first = dataOffset(pdu);
      if (first === pdu.length) return undefined;
      const changed = pdu.slice();
      changed.set(packWords(words).subarray(0, pdu.length - first), first);
      return changed;
    }),
};
