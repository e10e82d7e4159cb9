import { damageCheck } from './damage.js';
import { replyLength } from './reply-length.js';

/** Random bytes in place of a reply. */
export const junk = damageCheck({
  id: 'junk',
  title: 'Throws away junk in place of a reply',
  what: 'junk',
  does: 'Sends as many random bytes as the reply is long in place of one reply.',
  matters: 'Another baud rate or another protocol on the same line looks like this.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.2; Modbus Messaging on TCP/IP V1.0b, 4.4.1.3',
  faults: (exam) => [{ junk: replyLength(exam) }],
});
