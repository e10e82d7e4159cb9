import { wholeNumber } from '../../schema/parts.js';
import { changeFields } from '../change-pdu.js';
import type { FaultKind } from '../kind.js';

/** `unit: n`: another unit identifier in the reply; the frame is valid. */
export const unit: FaultKind<number> = {
  does: 'Sends another unit identifier. The CRC fits the frame that is sent.',
  schema: wholeNumber(0, 255, 'a unit identifier'),
  apply: (plan, unitId, context) => changeFields(plan, context, 'no frame to change', () => ({ unitId })),
};
