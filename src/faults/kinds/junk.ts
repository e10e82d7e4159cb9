import type { FaultKind } from '../kind.js';
import { wholeNumber } from '../parameters.js';
import { withOneFrame } from '../plan.js';
import { randomBytes } from '../random.js';

/** `junk: length`: random bytes instead of the frame. The device executes the request. */
export const junk: FaultKind<number> = {
  schema: wholeNumber('a number of bytes', 1),
  extent: ({ ms }, length) => ({ frames: 1, bytes: length, ms }),
  apply: (plan, length, { random }) => withOneFrame(plan, randomBytes(random, length)),
};
