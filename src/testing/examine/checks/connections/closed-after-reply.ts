import { type Check, fail, inconclusive, pass } from '../../check.js';
import { loseConnection, patienceOf } from '../../connection.js';
import { numberText } from '../../found.js';

/** The server closes the connection after a reply. */
export const closedAfterReply: Check = {
  id: 'closed-after-reply',
  group: 'connections',
  title: 'Connects again after its connection was closed',
  does: 'Closes the connection in an orderly way after one reply.',
  matters:
    'Devices close connections that they need for others, and when they restart; a client that does not notice reads nothing more.',
  rule: 'Passes when the client connects again and polls as before, fails when it does not within half a minute, twenty poll periods or ten time-outs.',
  source: 'Messaging on TCP/IP Implementation Guide V1.0b, 4.2.2; RFC 9293, 3.6',
  transports: ['tcp', 'tls'],
  abilities: ['close'],
  async run(exam) {
    const seen = await loseConnection(exam, [{ close: 'end' }]);
    if (typeof seen === 'string') return inconclusive(seen);
    const { next, reconnectedAfterMs, evidence } = seen;
    const conclusion = 'does not come back after its connection was closed';
    if (!next) return fail(`asked nothing more for ${patienceOf(exam) / 1000} s`, evidence, conclusion);
    if (!(await exam.recover())) {
      return fail('connected again, but did not poll as before', evidence, conclusion);
    }
    const told =
      reconnectedAfterMs === undefined
        ? 'went on over another connection that it had'
        : `connected again ${numberText(reconnectedAfterMs)} ms after its connection was closed`;
    return pass(told, evidence);
  },
};
