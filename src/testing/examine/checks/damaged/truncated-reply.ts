import { damageCheck } from './damage.js';
import { replyLength } from './reply-length.js';

/** The first half of a reply. */
export const truncated = damageCheck({
  id: 'truncated-reply',
  title: 'Throws away a reply that breaks off',
  what: 'half a reply',
  does: 'Sends only the first half of one reply.',
  matters: 'A client that takes what has come so far shows values that nobody has sent.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.1: an incomplete message is discarded',
  faults: (exam) => [{ truncate: replyLength(exam) >> 1 }],
});
