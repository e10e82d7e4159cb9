import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { withOneFrame } from '../plan.js';
import { randomBytes } from '../random.js';

/** `junk: length`: random bytes instead of the frame. The device executes the request. */
export const junk: FaultKind<number> = {
  does: 'Sends n random bytes in place of the frame. The device executes the request.',
  schema: wholeNumber(1, UNLIMITED, 'a number of bytes'),
  apply: (plan, length, context) => withOneFrame(plan, randomBytes(context, length)),
};
