import { counted } from '../../../common/words.js';
import { type Exchange, whyNotActed } from '../heard/exchange.js';
import { numberText } from '../heard/found.js';
import type { Check, CheckText, Exam } from '../trial/exam.js';
import { notAsBefore, secondsSince, stopped } from '../trial/gone.js';
import { patienceOf, recovers } from '../trial/trial.js';
import { type Evidence, type Judged, sure } from '../trial/verdict.js';

interface LossRow extends CheckText {
  readonly what: string;
  readonly faults: readonly object[];
  /** What happened to the connection, with an article, to follow a preposition: `the reset`. */
  readonly since: string;
  readonly blame: string;
}

/**
 * How many bytes to send before a reset. The header of a Modbus TCP frame has seven bytes, so one more ends
 * inside any reply.
 */
const AFTER_BYTES = 8;
const OUTAGE_MS = 10_000;
/** How long a client may take to give up a dead connection, in ms: it needs several time-outs. */
const DEAD_MS = 60_000;
const MOST_SHOWN = 8;

const WITHIN = 'half a minute plus three poll periods and three time-outs';
const ON_TCP = ['tcp', 'tls'] as const;

const LOSSES: readonly LossRow[] = [
  {
    id: 'closed-after-reply',
    title: 'Continues on another connection after its own was closed',
    what: 'its connection was closed',
    does: 'Closes the connection normally after one reply.',
    matters:
      'Devices close connections to free them for other clients, and when they restart; a client that does not notice reads no more values.',
    fix: 'Detect a closed connection, and connect again before the next poll.',
    source: 'Messaging on TCP/IP Implementation Guide V1.0b, 4.2.2; RFC 9293, 3.6',
    faults: [{ close: 'end' }],
    since: 'its connection was closed',
    blame: 'does not reconnect after its connection was closed',
  },
  {
    id: 'reset-in-reply',
    title: 'Survives a reset in the middle of a reply',
    what: 'a reset in the middle of a reply',
    does: 'Sends eight bytes of one reply and resets the connection.',
    matters:
      'A device that restarts causes this. The rest of the reply does not arrive on the next connection.',
    fix: 'Treat a reset as the end of the request, discard the received bytes, and connect again.',
    source: 'RFC 9293, 3.5.2 and 3.6',
    faults: [{ close: { how: 'reset', after: AFTER_BYTES } }],
    since: 'the reset',
    blame: 'does not survive a connection reset',
  },
];

function lossCheck({ faults, since, blame, ...described }: LossRow): Check {
  return {
    ...described,
    group: 'connections',
    expected: 'the client continues on another connection and polls as before',
    rule: `Passes when the client continues on a new or another open connection and polls as before; fails when it does not within ${WITHIN}.`,
    transports: ON_TCP,
    async run(exam) {
      const limit = patienceOf(exam);
      const { result: first } = await exam.disturb(
        { faults, count: 1 },
        ({ spoilt: [first] }) => (first?.reply ? first : undefined),
        limit,
      );
      if (!first) return sure('unclear', 'no request arrived for the check to disturb');
      const why = whyNotActed(first);
      if (why !== undefined) return sure('unclear', `the fault could not act: ${why}`);
      const next = await exam.until(() => elsewhere(exam, first), limit);
      const gone = exam.log.clientEvent(first.seq, 'client gone', first.request.clientId);
      const connected = next && exam.log.clientEvent(first.seq, 'client', next.request.clientId);
      const evidence = [first, gone, connected, next].filter((each) => each !== undefined);
      if (!next) return sure('wrong', stopped(exam, first).text, evidence, blame);
      const afterMs = gone && connected && numberText(Math.max(0, connected.at - gone.at));
      const again =
        afterMs === undefined ? 'connected again' : `connected again ${afterMs} ms after ${since}`;
      const how = connected ? again : 'continued on another open connection';
      const what = next.poll === first.poll ? 'sent the same request' : 'sent another request';
      return comeBack(exam, `${how} and ${what}`, evidence, blame);
    },
  };
}

/**
 * The client's first request after an exchange that came over another connection. Other clients are
 * recognised by their requests.
 */
function elsewhere({ log, client: { polls } }: Exam, { seq, request }: Exchange): Exchange | undefined {
  const isOfIt = ({ poll }: Exchange) => polls.some(({ key }) => key === poll);
  return log.after(seq).find((each) => each.request.clientId !== request.clientId && isOfIt(each));
}

/** The verdict on a client that sends requests again: it passes if it also polls as before. */
async function comeBack(exam: Exam, text: string, evidence: Evidence, blame: string): Promise<Judged> {
  return recovers(exam, sure('right', `${text}, and polled as before`, evidence), () => {
    const shown = [...evidence, ...exam.log.after(exam.since).slice(-2)];
    return sure('wrong', `${text}, but then ${notAsBefore(exam).text}`, shown, blame);
  });
}

const listenerGone: Check = {
  id: 'listener-gone',
  group: 'connections',
  title: 'Reconnects after the server was gone for 10 s',
  what: 'the server was gone for 10 s',
  does: 'Closes the line with all its connections, opens it again after 10 s, and waits for the client.',
  matters:
    'A restarting device refuses connections for a few seconds. Values are missing until the client tries again.',
  fix: 'Keep trying to connect for as long as the client runs, with a pause before each try.',
  expected: 'the client connects again and polls as before',
  isDecidedByMany: true,
  rule: `Passes when the client connects and polls as before; fails when it does not within ${WITHIN}. The simulator can't see refused connections, so it measures only an upper bound for the pause between them.`,
  source:
    'Common practice; the Messaging on TCP/IP Implementation Guide V1.0b, 4.2.1 leaves it to the client.',
  transports: ON_TCP,
  lastsMs: OUTAGE_MS,
  async run(exam) {
    const blame = 'does not reconnect after the server was gone';
    const before = exam.log.after(exam.since).slice(-1);
    const openedAt = await exam.outage(OUTAGE_MS);
    const reopened = exam.log.last;
    const limit = patienceOf(exam);
    const next = await exam.until(() => exam.log.after(reopened)[0], limit);
    if (!next) {
      const text = `sent no request for ${secondsSince(exam, openedAt)} after the line was reopened`;
      return sure('wrong', text, before, blame);
    }
    const connected = exam.log.clientEvent(0, 'client', next.request.clientId);
    const evidence = [...before, ...(connected ? [connected] : []), next];
    if (!connected)
      return sure('unclear', 'sent its next request on a connection whose opening was not seen', evidence);
    const afterMs = numberText(connected.at - openedAt);
    return comeBack(exam, `connected ${afterMs} ms after the line was reopened`, evidence, blame);
  },
};

const halfOpen: Check = {
  id: 'half-open',
  group: 'connections',
  title: 'Gives up a dead connection',
  what: 'a dead connection',
  does: 'Stops answering on the open connections, and answers again once the client has opened a new one. If the client opened a new connection during `outage-5s`, that decides.',
  matters:
    'A firewall that drops a connection and a device that loses power send no FIN. TCP itself notices only after many minutes, and a client that does not reconnect gets no values until then.',
  fix: 'Close the connection after a few requests without a reply, and connect again.',
  expected: 'the client opens a new connection and polls as before',
  isDecidedByMany: true,
  rule: 'Passes when the client opens a new connection and then polls as before; fails when it does not within a minute, or within half a minute plus three poll periods and three time-outs if that is longer.',
  source: 'RFC 9293, 3.5.1: half-open connections; Messaging on TCP/IP Implementation Guide V1.0b, 4.2.2',
  transports: ON_TCP,
  // Most clients open a new connection during that outage, which is enough for this check.
  after: ['outage-5s'],
  async run(exam) {
    if (exam.log.isAnewEachTime) {
      return sure('right', 'opens a connection for each request, so it never sends on a dead one');
    }
    const { opened } = exam.client.facts;
    const { at, spoilt, result } = opened
      ? { ...opened, result: opened.connection }
      : await exam.disturb(
          { faults: [{ silence: true }], scope: 'line' },
          ({ since }) => exam.log.clientEvent(since, 'client'),
          Math.max(DEAD_MS, patienceOf(exam)),
        );
    if (spoilt.length === 0) return sure('unclear', 'no request arrived for the check to disturb');
    const blame = 'holds on to a dead connection';
    if (!result) {
      // The outage checks reuse this silence, which saves another long wait.
      exam.client.learn({ silence: { at, spoilt, endedAt: exam.clock.now(), last: exam.log.last } });
      const text = `sent ${counted(spoilt.length, 'request')} on the dead connection within ${secondsSince(exam, at)}, and opened no new one`;
      return sure('wrong', text, spoilt.slice(-MOST_SHOWN), blame);
    }
    const asked = spoilt.filter(({ seq }) => seq < result.seq);
    const which = asked.length > 1 ? `the first of ${asked.length} requests` : 'a request';
    const afterMs = numberText(result.at - (spoilt[0]?.at ?? at));
    const text = `opened a new connection ${afterMs} ms after ${which} without a reply`;
    return comeBack(exam, text, [...asked.slice(-MOST_SHOWN), result], blame);
  },
};

export const connections: readonly Check[] = [...LOSSES.map(lossCheck), listenerGone, halfOpen];
