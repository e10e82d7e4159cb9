import { addressRanges } from '../../../../protocol/pdu.js';
import { believed } from '../../believed.js';
import { GOOD, isBroken, LOST, runChain } from '../../chain.js';
import { type Check, fail, inconclusive, type Outcome, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import type { Exchange } from '../../exchange.js';
import { numberText } from '../../found.js';
import { compare } from './compare.js';

const SHORTEST_GAP_MS = 1;
/** The replies of functions 1 to 4 do not say which addresses they are of. */
const LAST_READING = 4;
const GIVES_UP = 'gives up a request when a late reply comes';
const DANGEROUS = 'takes a late reply for the next one: dangerous';

/** A reply after the time-out, while the next request is under way. */
export const lateReply: Check = {
  id: 'late-reply',
  group: 'damaged',
  title: 'Does not take a late reply for the next one',
  does: 'Holds one reply back until the client has given up and sends its next request, and sends it then. Where the line shows nothing that tells it from the reply to that request, both are sent, and the request after it gets none.',
  matters:
    'A client that takes it is one reply behind from then on: every value belongs to another question, and nothing shows it.',
  rule: 'Passes when the client goes on waiting for its own reply, connects anew after a time-out, or is not behind afterwards; fails when it goes on as if its request had been answered, or stops, or when the witness shows the late value; inconclusive when both look the same for this client.',
  source:
    'libmodbus issue 255, goburrow/modbus issue 64, tokio-modbus issue 324, NModbus issue 88, grid-x/modbus issue 26; Modbus Messaging on TCP/IP V1.0b, 4.4.1.3',
  async run(exam) {
    const first = await runChain(exam, [LOST]);
    if (isBroken(first)) {
      if (first.isEnd) return fail(first.why, first.asked, 'stops after a request without a reply');
      return inconclusive(first.why, first.asked);
    }
    return isAlike(exam, first.next) ? behind(exam) : taken(exam);
  },
};

/** A reply to the target fits this request as well, and nothing in it says that it does not belong to it. */
function isAlike({ target, line }: Exam, { request, pdu }: Exchange): boolean {
  if (line.framing === 'socket') return false;
  if (request.unitId !== target.unitId || pdu[0] !== target.functionCode) return false;
  const [asked, other] = [addressRanges(target.pdu)[0], addressRanges(pdu)[0]];
  const isReading = target.functionCode <= LAST_READING;
  return asked?.quantity === other?.quantity && (isReading || asked?.address === other?.address);
}

/** The next request gets the late reply alone. */
async function taken(exam: Exam): Promise<Outcome> {
  const compared = await compare(exam, {
    shown: [LOST, [{ stale: true }]],
    ifLeft: [LOST, LOST],
    ifTaken: [LOST, GOOD],
  });
  if (isBroken(compared)) {
    const { isEnd, why, asked } = compared;
    if (isEnd) return fail(why, asked, 'stops after a late reply');
    if (!why.includes('no earlier reply')) return inconclusive(why, asked);
    return pass('connects anew after a time-out, so no late reply reaches it', asked);
  }
  const { answer, chain, evidence } = compared;
  const after = `${numberText(chain.afterMs)} ms after the request`;
  const belief = await believed(exam, (mark) => [{ stale: true }, mark]);
  if (answer === 'taken') {
    const told = `went on ${after}, with the late reply of the request before and none of its own`;
    // It has thrown the late reply away, and its request with it.
    if (belief.kind === 'kept') return fail(`${told}; ${belief.text}`, evidence, GIVES_UP);
    return fail(told, evidence, DANGEROUS);
  }
  if (belief.kind === 'sent' || belief.kind === 'other') {
    return fail(belief.text, [...evidence, ...belief.evidence], DANGEROUS);
  }
  if (answer === 'left') return pass(`waited on for its own reply: went on ${after}`, evidence);
  if (belief.kind === 'kept') return pass(belief.text, [...evidence, ...belief.evidence]);
  return inconclusive(
    `this client goes on alike with and without a reply, so the line does not show it, and ${belief.text}`,
    evidence,
  );
}

/** The next request gets the late reply and its own. No client can tell them apart, but it must not stay behind. */
async function behind(exam: Exam): Promise<Outcome> {
  const gap = Math.max(SHORTEST_GAP_MS, 2 * exam.line.t35);
  const compared = await compare(exam, {
    shown: [LOST, [{ duplicate: { times: 1, gap } }], LOST],
    ifLeft: [LOST, GOOD, LOST],
    ifTaken: [LOST, GOOD, GOOD],
  });
  if (isBroken(compared)) {
    if (compared.isEnd) return fail(compared.why, compared.asked, 'stops after a late reply');
    return inconclusive(compared.why, compared.asked);
  }
  const { answer, chain, evidence } = compared;
  if (chain.asked[1]?.reply?.report.ended !== 'complete') {
    return inconclusive('the client asked on before both replies could be sent', evidence);
  }
  const after = `${numberText(chain.afterMs)} ms after a request without a reply`;
  if (answer === 'taken') {
    const summary = `went on ${after}: it took the reply to the request before for it, and stays one behind`;
    return fail(summary, evidence, DANGEROUS);
  }
  if (answer === 'left') {
    return pass(
      `did not stay behind: went on ${after}; a late reply to the same question can't be told from its own here`,
      evidence,
    );
  }
  return inconclusive(
    'this client goes on alike with and without a reply, so the line does not show it',
    evidence,
  );
}
