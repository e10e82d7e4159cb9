import type { Framing } from '../../protocol/framing.js';
import { AsciiFramer } from '../framer/ascii-framer.js';
import { RtuFramer } from '../framer/rtu-framer.js';
import { FramedDecoder } from './framed-decoder.js';
import { MbapDecoder } from './mbap-decoder.js';
import type { StreamDecoder } from './stream-decoder.js';

/** A client that got no answer to something damaged, and asks again, has waited for longer. */
const NEW_ATTEMPT_MS = 100;

/**
 * A new decoder for one connection that speaks this framing.
 * @param owns tells whether a unit identifier is ours; asked where requests to others can be seen
 */
export function decoderOf(framing: Framing, owns: (unitId: number) => boolean): StreamDecoder {
  switch (framing.name) {
    case 'ascii':
      return new FramedDecoder(new AsciiFramer(owns, framing), framing);
    case 'rtu':
      return new FramedDecoder(new RtuFramer(owns, NEW_ATTEMPT_MS, 0, 'stream'), framing);
    case 'socket':
      return new MbapDecoder();
  }
}
