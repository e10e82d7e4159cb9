import type { Framing } from '../../modbus/protocol/framing.js';
import { type Form, formOf } from './frames.js';
import type { LoggedBytes } from './logged-bytes.js';

/**
 * Finds the direction of frames: first by their bytes, then by the words before them, then by the nearest of
 * these words.
 */

/** Frames with their directions. */
interface Directed {
  /** The direction of requests; undefined if nothing in the log is a request. */
  readonly asks: 'out' | 'in' | undefined;
  readonly frames: readonly LoggedBytes[];
}

/** If the words before a frame name both directions, the form of its bytes decides. */
export function directedBy(frames: readonly LoggedBytes[], framing: Framing): Directed {
  const forms = frames.map((frame): Form => {
    const content = framing.decode(frame.bytes);
    return content ? formOf(content) : 'neither';
  });
  const asks = requestDirection(frames, forms);
  if (asks === undefined) return { asks, frames };
  const answers = asks === 'out' ? 'in' : 'out';
  return {
    asks,
    frames: frames.map((frame, i) => {
      if (!frame.isDoubtful || (forms[i] !== 'request' && forms[i] !== 'reply')) return frame;
      return { ...frame, direction: forms[i] === 'request' ? asks : answers };
    }),
  };
}

/**
 * Finds the direction of requests: outgoing in a client's log, incoming in a server's log. If every frame
 * could be either and the log has both directions, the first frame is a request.
 */
function requestDirection(frames: readonly LoggedBytes[], forms: readonly Form[]): Directed['asks'] {
  // In a capture, connections are oriented so that requests go out.
  if (frames.some(({ channel }) => channel !== undefined)) return 'out';
  let score = 0;
  for (const [i, { direction, isDoubtful }] of frames.entries()) {
    const sign = isDoubtful || direction === undefined ? 0 : direction === 'out' ? 1 : -1;
    score += forms[i] === 'request' ? sign : forms[i] === 'reply' ? -sign : 0;
  }
  if (score !== 0) return score > 0 ? 'out' : 'in';
  const said = frames.flatMap(({ direction }) => direction ?? []);
  // Without directions, a frame that may be either is a request, unless the log certainly has only replies.
  if (said.length === 0) return !forms.includes('request') && forms.includes('reply') ? undefined : 'out';
  const [first = 'out'] = frames.flatMap(({ direction }, i) =>
    forms[i] === 'either' ? (direction ?? []) : [],
  );
  return new Set(said).size === 2 ? first : 'out';
}
