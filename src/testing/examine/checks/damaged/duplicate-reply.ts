import { GOOD, isBroken, LOST } from '../../chain.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';
import { numberText } from '../../found.js';
import { compare } from './compare.js';

const SHORTEST_GAP_MS = 1;

/** A reply that comes twice. */
export const duplicate: Check = {
  id: 'duplicate-reply',
  group: 'damaged',
  title: 'Does not take a duplicate for the next reply',
  does: 'Sends one reply twice, and leaves the request after it without a reply.',
  matters:
    'A client that takes the copy for the next reply is one reply behind from then on: every value belongs to another question.',
  rule: 'Passes when the client waits for a reply to the next request as it does without the copy; fails when it goes on as if that request had been answered, or stops; inconclusive when both look the same for this client.',
  source: 'libmodbus issue 255, goburrow/modbus issue 64, NModbus issue 88',
  async run(exam) {
    const gap = Math.max(SHORTEST_GAP_MS, 2 * exam.line.t35);
    const compared = await compare(exam, {
      shown: [[{ duplicate: { times: 1, gap } }], LOST],
      ifLeft: [GOOD, LOST],
      ifTaken: [GOOD, GOOD],
    });
    if (isBroken(compared)) {
      if (compared.isEnd) return fail(compared.why, compared.asked, 'stops after a duplicate reply');
      return inconclusive(compared.why, compared.asked);
    }
    const { answer, chain, evidence } = compared;
    if (chain.asked[0]?.reply?.report.ended !== 'complete') {
      return inconclusive('the client asked on before the copy could be sent', evidence);
    }
    const after = `${numberText(chain.afterMs)} ms after a request without a reply`;
    if (answer === 'left') return pass(`waited for the right reply: went on ${after}`, evidence);
    if (answer === 'taken') {
      const summary = `went on ${after}, as if that had been answered: took the copy of the reply before for it`;
      return fail(summary, evidence, 'takes a duplicate reply for the next one: dangerous');
    }
    return inconclusive(
      'this client goes on alike with and without a reply, so the line does not show it',
      evidence,
    );
  },
};
