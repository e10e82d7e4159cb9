import { exceptionResponse } from '../../protocol/response.js';
import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { withOneFrame } from '../plan.js';

/** `exception: code`: an exception response instead of the true one. The device does not execute the request. */
export const exception: FaultKind<number> = {
  does: 'Sends an exception response with this code. The device does not execute the request.',
  schema: wholeNumber(0, 255, 'an exception code'),
  prevents: true,
  apply: (plan, code, { framing, requestPdu, unitId, transactionId }) => {
    const pdu = exceptionResponse(requestPdu[0] as number, code);
    return withOneFrame(plan, framing.encode({ unitId, transactionId, pdu }));
  },
};
