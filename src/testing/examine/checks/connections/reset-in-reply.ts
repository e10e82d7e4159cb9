import { type Check, fail, inconclusive, pass } from '../../check.js';
import { loseConnection, patienceOf } from '../../connection.js';
import { numberText } from '../../found.js';

/** The header of a Modbus TCP frame has seven bytes; one more is in the middle of any reply. */
const AFTER_BYTES = 8;

/** The connection is reset while a reply is under way. */
export const resetInReply: Check = {
  id: 'reset-in-reply',
  group: 'connections',
  title: 'Survives a reset in the middle of a reply',
  does: 'Sends eight bytes of one reply and resets the connection.',
  matters:
    'That is how a device looks that restarts; the rest of a reply must not be expected on the next connection.',
  rule: 'Passes when the client connects again and polls as before, fails when it does not within half a minute, twenty poll periods or ten time-outs.',
  source: 'RFC 9293, 3.5.2 and 3.6',
  transports: ['tcp', 'tls'],
  abilities: ['close'],
  async run(exam) {
    const seen = await loseConnection(exam, [{ close: { how: 'reset', after: AFTER_BYTES } }]);
    if (typeof seen === 'string') return inconclusive(seen);
    const { spoilt, next, reconnectedAfterMs, evidence } = seen;
    const conclusion = 'does not survive a connection that is reset';
    if (!next) return fail(`asked nothing more for ${patienceOf(exam) / 1000} s`, evidence, conclusion);
    if (!(await exam.recover())) {
      return fail('connected again, but did not poll as before', evidence, conclusion);
    }
    const how =
      reconnectedAfterMs === undefined
        ? 'went on over another connection that it had'
        : `connected again ${numberText(reconnectedAfterMs)} ms after the reset`;
    const what =
      next.question === spoilt.question ? 'asked the same question' : 'went on with another question';
    return pass(`${how} and ${what} ${numberText(next.at - spoilt.at)} ms after the first asking`, evidence);
  },
};
