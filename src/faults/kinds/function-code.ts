import { changePdu } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';

/** `function: n`: another function code in the reply; the frame is valid. */
export const functionCode: FaultKind<number> = {
  schema: wholeNumber('a function code', 0, 255),
  apply: (plan, code, context) =>
    changePdu(plan, context, 'no frame to change', (pdu) => {
      const changed = pdu.slice();
      changed[0] = code;
      return changed;
    }),
};
