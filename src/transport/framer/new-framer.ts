import type { Framing } from '../../protocol/framing.js';
import { AsciiFramer } from './ascii-framer.js';
import type { Framer } from './framer.js';
import { RtuFramer, type RtuFramerOptions } from './rtu-framer.js';

/**
 * What finds the frames of a serial framing in bytes.
 * @param owns whether a unit identifier is ours
 */
export function newFramer(
  framing: Framing,
  owns: (unitId: number) => boolean,
  options: RtuFramerOptions,
): Framer {
  if (framing.name !== 'ascii') return new RtuFramer(owns, options);
  const { longestPause, t35, carrier = 'wire' } = options;
  return new AsciiFramer(owns, framing, {
    carrier,
    ...(longestPause !== undefined && { longestPause: longestPause + t35 }),
  });
}
