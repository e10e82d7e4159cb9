import { type Exchange, isAlike } from '../heard/exchange.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import {
  type Contrast,
  decide,
  isBroken,
  learn,
  lineTrial,
  TAKES_NONE,
  twice,
  whyNotTwice,
} from '../trial/trial.js';
import { type Judged, sure } from '../trial/verdict.js';

const BLAME = {
  what: 'a late reply',
  blame: 'mistakes a late reply for the next one, or gives up a request because of it',
};
/** The verdict if the observer showed the late value, or nothing distinguishes the two replies. */
const TAKEN = { ...BLAME, blame: 'mistakes a late reply for the next one: dangerous' };

export const lateReply: Check = {
  id: 'late-reply',
  group: 'damaged',
  title: 'Does not mistake a late reply for the next one',
  what: BLAME.what,
  does: 'Holds a reply back until the client has given up and sent its next request, then sends it. If the next request is the same, so that the late reply fits it, that request gets no reply of its own.',
  matters:
    'A client that accepts it is off by one reply from then on: every value belongs to another request, unnoticed. A client that gives up its request because of it loses a value.',
  fix: 'Empty the receive buffer before each request; on TCP, compare the transaction identifier and keep waiting for the right one.',
  expected: 'the client keeps waiting for its own reply',
  rule: 'Passes when the client keeps waiting for its own reply or is not off by one reply afterwards, in three trials that agree, or reconnects after a time-out; fails when it continues as if its request had been answered, or stops, or when the observer shows the late value; inconclusive when this client behaves the same in both cases.',
  source:
    'libmodbus issue 255, goburrow/modbus issue 64, tokio-modbus issue 324, NModbus issue 88, grid-x/modbus issue 26; Modbus Messaging on TCP/IP V1.0b, 4.4.1.3',
  // Those runs show how the client continues after two requests without a reply.
  after: ['retries'],
  async run(exam) {
    const missing = await learn(exam, [LOST]);
    if (isBroken(missing) && missing.kind === 'waits')
      return sure('right', 'waits forever for its reply, so no reply can come too late', missing.asked);
    if (isBroken(missing))
      return sure(
        'wrong',
        missing.why,
        missing.asked,
        'sends nothing for half a minute or longer after a request without a reply',
      );
    const [sample] = missing.samples;
    if (!sample) return sure('unclear', 'no request arrived for the check to disturb');
    if (missing.samples.every(({ isAnew }) => isAnew)) {
      return sure('right', 'reconnects after a time-out, so no late reply reaches it', [
        sample.of,
        sample.next,
      ]);
    }
    if (fits(exam, sample.next))
      return decide(exam, BLAME, () => lineTrial(exam, behind(exam), TAKES_NONE, TAKEN));
    return taken(exam);
  },
};

/** True if a reply to the target also fits this request, and nothing in it shows that it belongs to another one. */
function fits({ target, client: { line } }: Exam, exchange: Exchange): boolean {
  return line.framing !== 'socket' && isAlike(exchange, target);
}

/**
 * The contrast for a next request that gets the late reply and its own. No client can tell them apart, but it
 * must not remain one reply behind.
 */
function behind(exam: Exam): Contrast {
  return {
    shown: [LOST, twice(exam), LOST],
    ifTaken: [LOST, 'good', 'good'],
    ifLeft: [LOST, 'good', LOST],
    isVoid: ([, second]) => whyNotTwice(second),
  };
}

/** Judges a client whose next request gets only the late reply. */
async function taken(exam: Exam): Promise<Judged> {
  const contrast: Contrast = {
    shown: [LOST, [{ stale: true }]],
    ifTaken: [LOST, 'good'],
    ifLeft: [LOST, LOST],
    isVoid: ([, second]) =>
      second && fits(exam, second) ? 'the next request was the same, so the late reply fits it' : undefined,
  };
  const onLine = await decide(exam, BLAME, () => lineTrial(exam, contrast, TAKES_NONE, BLAME));
  const { values } = exam.client;
  if (!values) return onLine;
  const seeing = () =>
    values.trial(exam, {
      ...TAKEN,
      faults: (mark) => [{ stale: true }, mark],
      meaning: { kept: 'right', sent: 'wrong', other: 'wrong' },
      isVoid: ({ before }) => before !== undefined && fits(exam, before),
    });
  if (onLine.verdict === 'fail') {
    const { kind, text } = await seeing();
    if (kind !== 'kept') return kind === 'sent' ? { ...onLine, conclusion: TAKEN.blame } : onLine;
    // The client discarded the late reply, and gave up its request too.
    const conclusion = 'gives up a request when a late reply arrives';
    return { ...onLine, summary: `${onLine.summary}; ${text}`, conclusion };
  }
  const seen = await decide(exam, BLAME, seeing);
  if (seen.verdict === 'inconclusive') return onLine;
  if (onLine.verdict === 'pass') return seen;
  const undecided = seen.verdict === 'pass' ? 'its requests do not decide: ' : '';
  return { ...seen, summary: `${seen.summary}; ${undecided}${onLine.summary}` };
}
