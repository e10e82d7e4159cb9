import { changeFields } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';

/** `unit: n`: another unit identifier in the reply; the frame is valid. */
export const unit: FaultKind<number> = {
  schema: wholeNumber('a unit identifier', 0, 255),
  apply: (plan, unitId, context) => changeFields(plan, context, 'no frame to change', () => ({ unitId })),
};
