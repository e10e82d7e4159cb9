import { type Check, fail, inconclusive, pass } from '../../check.js';
import { clientEvent, patienceOf } from '../../connection.js';
import { numberText } from '../../found.js';

const OUTAGE_MS = 10_000;

/** Nobody listens for ten seconds. */
export const listenerGone: Check = {
  id: 'listener-gone',
  group: 'connections',
  title: 'Comes back after the server was gone for 10 s',
  does: 'Closes the line with all its connections, opens it again after 10 s, and waits for the client.',
  matters:
    'A device that restarts refuses connections for some seconds, and values are missing until the client tries again.',
  rule: 'Passes when the client connects and polls as before, fails when it does not within half a minute, twenty poll periods or ten time-outs. Attempts while nobody listens can not be seen, so the pause between them is known by its upper bound only. Inconclusive for a line with port 0.',
  source:
    'Common practice; the Messaging on TCP/IP Implementation Guide V1.0b, 4.2.1 leaves it to the client.',
  transports: ['tcp', 'tls'],
  async run(exam) {
    if (exam.line.hasAnyPort) {
      return inconclusive('the line is on any free port, so it would come back on another; give it one');
    }
    const before = exam.log.after(exam.since).slice(-1);
    const openedAt = await exam.outage(OUTAGE_MS);
    const reopened = exam.log.last;
    const limit = patienceOf(exam);
    const first = () => exam.log.after(reopened)[0];
    await exam.until(first, limit);
    const next = first();
    if (!next) {
      return fail(
        `did not come back for ${limit / 1000} s after the line was open again`,
        before,
        'does not come back after the server was gone',
      );
    }
    const connected = clientEvent(exam, 0, 'client', next.request.clientId);
    const evidence = [...before, ...(connected ? [connected] : []), next];
    if (!connected) return inconclusive('the connection of its next request was not seen', evidence);
    const afterMs = connected.at - openedAt;
    const told = `connected ${numberText(afterMs)} ms after the line was open again`;
    if (await exam.recover()) return pass(`${told}, and polled as before`, evidence);
    return fail(
      `${told}, but did not poll as before`,
      evidence,
      'does not come back after the server was gone',
    );
  },
};
