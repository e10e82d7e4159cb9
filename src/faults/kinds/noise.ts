import { concatBytes } from '../../protocol/bytes.js';
import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { hasFrame, mapFrameSteps, withOneFrame } from '../plan.js';
import { randomBytes } from '../random.js';

/** `noise: n`: n random bytes right before the frame, or alone where no frame is sent. */
export const noise: FaultKind<number> = {
  schema: wholeNumber(1, UNLIMITED, 'a number of bytes'),
  extent: (before, count) => {
    const frames = Math.max(1, before.frames);
    return { ...before, frames, bytes: before.bytes + frames * count };
  },
  apply(plan, count, { random, framing }) {
    const characters = () => randomBytes(random, count, framing.characterBits);
    if (!hasFrame(plan)) return withOneFrame(plan, characters());
    return mapFrameSteps(plan, 'no frame', ([first, ...rest]) => [
      { ...first, bytes: concatBytes(characters(), first.bytes) },
      ...rest,
    ]);
  },
};
