import { exceptionResponse } from '../../protocol/response.js';
import { type FaultKind, LONGEST_FRAME } from '../kind.js';
import { wholeNumber } from '../parameters.js';
import { withOneFrame } from '../plan.js';

/** `exception: code`: an exception response instead of the true one. The device does not execute the request. */
export const exception: FaultKind<number> = {
  schema: wholeNumber('an exception code', 0, 255),
  prevents: true,
  extent: ({ ms }) => ({ frames: 1, bytes: LONGEST_FRAME, ms }),
  apply: (plan, code, { framing, requestPdu, unitId, transactionId }) => {
    const pdu = exceptionResponse(requestPdu[0] as number, code);
    return withOneFrame(plan, framing.encode({ unitId, transactionId, pdu }));
  },
};
