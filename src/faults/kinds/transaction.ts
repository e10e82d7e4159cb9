import { changeFields } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';

/** `transaction: n`: another transaction identifier in the MBAP header. */
export const transaction: FaultKind<number> = {
  schema: wholeNumber('a transaction identifier', 0, 0xffff),
  needs: 'transaction',
  apply: (plan, transactionId, context) =>
    changeFields(plan, context, 'no frame to change', () => ({ transactionId })),
};
