import { type Check, fail, inconclusive, pass } from '../../check.js';
import { patienceOf } from '../../connection.js';
import type { Exchange } from '../../exchange.js';
import { numberText } from '../../found.js';

/** A client gives up a connection only after some time-outs. */
const SHORTEST_MS = 60_000;
const MOST_SHOWN = 8;

/** A connection that is dead without a FIN: only a new one works. */
export const halfOpen: Check = {
  id: 'half-open',
  group: 'connections',
  title: 'Gives up a connection that is dead',
  does: 'Answers nothing more on the connections that there are, and answers again once the client has opened a new one.',
  matters:
    'A firewall that forgets a connection and a device that loses its supply send no FIN. TCP itself notices after many minutes, so a client that does not connect anew is blind for as long.',
  rule: 'Passes when the client opens a new connection within a minute, twenty poll periods or ten time-outs and polls as before, fails when it does not.',
  source: 'RFC 9293, 3.5.1: half-open connections; Messaging on TCP/IP Implementation Guide V1.0b, 4.2.2',
  transports: ['tcp', 'tls'],
  async run(exam) {
    const limit = Math.max(SHORTEST_MS, patienceOf(exam));
    const { at, since, spoilt, result } = await exam.disturb(
      { faults: [{ silence: true }], scope: 'line' },
      ({ since }) => exam.log.othersAfter(since).find(({ kind }) => kind === 'client'),
      limit,
    );
    const dead: readonly Exchange[] = spoilt.slice(-MOST_SHOWN);
    if (spoilt.length === 0) return inconclusive('no request came that could be disturbed');
    const conclusion = 'holds on to a connection that is dead';
    if (!result) {
      const told = `asked ${spoilt.length} times on the dead connection within ${limit / 1000} s, and opened no new one`;
      return fail(told, dead, conclusion);
    }
    const asked = spoilt.filter(({ seq }) => seq < result.seq).length;
    const times = asked === 1 ? 'one request' : `${asked} requests`;
    const told = `opened a new connection ${numberText(result.at - (spoilt[0]?.at ?? at))} ms after the first of ${times} without a reply`;
    if (await exam.recover()) return pass(told, [...dead, result]);
    return fail(
      `${told}, but did not poll as before`,
      [...dead, result, ...exam.log.after(since).slice(-2)],
      conclusion,
    );
  },
};
