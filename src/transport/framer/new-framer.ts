import type { Framing } from '../../protocol/framing.js';
import { AsciiFramer } from './ascii-framer.js';
import type { Framer } from './framer.js';
import { type Carrier, RtuFramer } from './rtu-framer.js';

export interface FramerOptions {
  /** Tells whether a unit identifier is ours. */
  readonly owns: (unitId: number) => boolean;
  /** The pause before which a frame may end and after which one may begin, in ms. */
  readonly t35: number;
  /** How long a character takes on the wire, in ms; 0 where bytes come at once. */
  readonly characterTime: number;
  readonly carrier: Carrier;
}

/** What finds the frames of a serial framing in bytes. */
export function newFramer(framing: Framing, { owns, t35, characterTime, carrier }: FramerOptions): Framer {
  return framing.name === 'ascii'
    ? new AsciiFramer(owns, framing)
    : new RtuFramer(owns, t35, characterTime, carrier);
}
