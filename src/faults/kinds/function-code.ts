import { wholeNumber } from '../../schema/parts.js';
import { changePdu } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';

/** `function: n`: another function code in the reply; the frame is valid. */
export const functionCode: FaultKind<number> = {
  does: 'Sends another function code. The CRC fits the frame that is sent.',
  schema: wholeNumber(0, 255, 'a function code'),
  apply: (plan, code, context) =>
    changePdu(plan, context, 'no frame to change', (pdu) => {
      const changed = pdu.slice();
      changed[0] = code;
      return changed;
    }),
};
