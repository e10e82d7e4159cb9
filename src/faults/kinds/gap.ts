import { numberFrom, section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { cutFrames } from '../plan.js';

/** A character of 12 bits at 50 baud, the slowest that a line can have, in ms. */
const SLOWEST_CHARACTER_MS = 240;

/** `gap: {after, characters}`: a pause of that many character times after byte `after` of the frame, to break t1.5. */
export const gap: FaultKind<{ after: number; characters: number }> = {
  schema: section({
    after: wholeNumber(1, UNLIMITED, 'a number of bytes'),
    characters: numberFrom(0, UNLIMITED, 'character times'),
  }),
  needs: 'characterTime',
  extent: (before, { characters }) => ({
    ...before,
    ms: before.ms + before.frames * characters * SLOWEST_CHARACTER_MS,
  }),
  apply(plan, { after, characters }, { characterTime }) {
    return cutFrames(plan, `no frame with a byte ${after}`, () => [after], characters * characterTime);
  },
};
