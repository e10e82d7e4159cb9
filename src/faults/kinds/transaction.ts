import { wholeNumber } from '../../schema/parts.js';
import { changeFields } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';

/** `transaction: n`: another transaction identifier in the MBAP header. */
export const transaction: FaultKind<number> = {
  does: 'Sends another transaction identifier (Modbus TCP).',
  schema: wholeNumber(0, 0xffff, 'a transaction identifier'),
  needs: 'transaction',
  apply: (plan, transactionId, context) =>
    changeFields(plan, context, 'no frame to change', () => ({ transactionId })),
};
