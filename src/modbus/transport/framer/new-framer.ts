import type { Framing } from '../../protocol/framing.js';
import { AsciiFramer } from './ascii-framer.js';
import type { Framer, FramerOptions } from './framer.js';
import { RtuFramer } from './rtu-framer.js';

/** Creates the framer for a framing. @param owns reports whether a unit identifier is ours */
export function newFramer(
  framing: Framing,
  owns: (unitId: number) => boolean,
  options: FramerOptions,
): Framer {
  return framing.name === 'ascii' ? new AsciiFramer(owns, framing, options) : new RtuFramer(owns, options);
}
