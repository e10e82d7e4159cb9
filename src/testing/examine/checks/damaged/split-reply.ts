import { believed } from '../../believed.js';
import { GOOD, isBroken } from '../../chain.js';
import { type Check, fail, inconclusive, type Outcome, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import type { Exchange } from '../../exchange.js';
import { compare } from './compare.js';
import { replyLength } from './reply-length.js';

/** Between the pieces on TCP, and on an ASCII line, where up to a second is allowed. */
const GAP_MS = 20;
const REJECTS = 'throws away a reply that comes in two pieces';

/** A reply in two pieces, as the standard allows it. */
export const split: Check = {
  id: 'split-reply',
  group: 'damaged',
  title: 'Takes a reply that comes in two pieces',
  does: `Sends one reply in two halves: on RTU with a pause of one character, which is less than t1.5, elsewhere of ${GAP_MS} ms.`,
  matters:
    'Adapters and networks cut replies as they like. A client that takes one read for one reply fails with them now and then.',
  rule: 'Passes when the client goes on as after a whole reply, fails when it goes on as after half a reply; inconclusive when both look the same for this client and there is no witness.',
  source:
    'Modbus over Serial Line V1.02, 2.5.1.1 (t1.5) and 2.5.2.1; Modbus Messaging on TCP/IP V1.0b, 4.2: TCP is a stream',
  transports: ['serial', 'tcp', 'tls'],
  async run(exam) {
    const isRtu = exam.line.framing === 'rtu';
    const gap = isRtu ? exam.line.characterTime : GAP_MS;
    const faults = [{ split: { at: 'middle', gap } }];
    const compared = await compare(exam, {
      shown: [faults],
      ifLeft: [[{ truncate: replyLength(exam) >> 1 }]],
      // What is late by the same time as the second half.
      ifTaken: [isRtu ? GOOD : [{ delay: gap }]],
    });
    if (isBroken(compared)) {
      if (compared.isEnd) return fail(compared.why, compared.asked, 'stops after a reply in two pieces');
      return inconclusive(compared.why, compared.asked);
    }
    const { answer, chain, evidence } = compared;
    if (isRtu && pauseIn(chain.asked[0]) > exam.line.t15) {
      return inconclusive(
        'this computer made the pause longer than t1.5, and then the reply is no longer valid',
        evidence,
      );
    }
    if (answer === 'taken') return pass('went on as after a whole reply', evidence);
    if (answer === 'left') return fail('went on as after half a reply', evidence, REJECTS);
    return witnessed(exam, faults, evidence);
  },
};

async function witnessed(
  exam: Exam,
  faults: readonly object[],
  evidence: readonly Exchange[],
): Promise<Outcome> {
  const { kind, text } = await believed(exam, faults);
  if (kind === 'sent') return pass('the witness showed its value', evidence);
  if (kind === 'kept' || kind === 'other') return fail(text, evidence, REJECTS);
  return inconclusive(`this client goes on alike after a whole reply and half of one, and ${text}`, evidence);
}

/** The pause between the pieces as it was, in ms. */
function pauseIn(exchange: Exchange | undefined): number {
  const [first, second] = exchange?.reply?.report.steps ?? [];
  return first && second ? second.achievedAt - first.endedAt : 0;
}
