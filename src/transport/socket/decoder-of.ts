import type { Framing } from '../../protocol/framing.js';
import { newFramer } from '../framer/new-framer.js';
import { FramedDecoder } from './framed-decoder.js';
import { MbapDecoder } from './mbap-decoder.js';
import type { StreamDecoder } from './stream-decoder.js';

/** A client that got no answer to a damaged request waits longer than this before it asks again. */
const NEW_ATTEMPT_MS = 100;

/**
 * A new decoder for one connection that speaks this framing.
 * @param owns tells whether a unit identifier is ours; asked where requests to others can be seen
 */
export function decoderOf(framing: Framing, owns: (unitId: number) => boolean): StreamDecoder {
  if (framing.name === 'socket') return new MbapDecoder();
  const options = { t35: NEW_ATTEMPT_MS, carrier: 'stream' as const };
  return new FramedDecoder(newFramer(framing, owns, options), framing);
}
