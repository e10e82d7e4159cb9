import { hasByteCount } from '../../protocol/response-data.js';
import { wholeNumber } from '../../schema/parts.js';
import { changePdu } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';

/**
 * `byteCount: n`: a byte count that does not fit the data. The data is unchanged, and the CRC matches the frame as
 * sent.
 */
export const byteCount: FaultKind<number> = {
  does: 'Sends a wrong byte count. The data stay as they are, and the CRC fits the frame that is sent.',
  schema: wholeNumber(0, 255, 'a byte count'),
  apply: (plan, count, context) =>
    changePdu(plan, context, 'a response without a byte count', (pdu) => {
      if (!hasByteCount(pdu)) return undefined;
      const changed = pdu.slice();
      changed[1] = count;
      return changed;
    }),
};
