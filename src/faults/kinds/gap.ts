import { numberFrom, section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { cutFrames } from '../plan.js';

/** `gap: {after, characters}`: a pause of that many character times after byte `after` of the frame, to break t1.5. */
export const gap: FaultKind<{ after: number; characters: number }> = {
  does: 'Pauses inside the frame. A pause that is longer than t1.5 breaks the frame.',
  schema: section({
    after: wholeNumber(1, UNLIMITED, 'a number of bytes').describe('Number of bytes before the pause.'),
    characters: numberFrom(0, UNLIMITED, 'character times').describe(
      'Length of the pause, in character times.',
    ),
  }),
  needs: 'characterTime',
  apply(plan, { after, characters }, context) {
    const cannot = `no frame with a byte ${after}`;
    return cutFrames(plan, context, cannot, () => [after, after], characters * context.characterTime);
  },
};
