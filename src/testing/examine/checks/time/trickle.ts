import { type Check, fail, inconclusive, pass } from '../../check.js';
import { type Exchange, repliedFrom, repliedUntil } from '../../exchange.js';
import { numberText } from '../../found.js';
import { reactionOf } from '../../reaction.js';
import { spoilOne } from '../../spoil.js';

/** Pauses inside a frame, in parts of t1.5 and t3.5. */
const WITHIN_T15 = 0.8;
const OVER_T35 = 2;

/** How much longer than without pauses the reply took, in ms; 0 when it was not sent to its end. */
function longerBy(spoilt: Exchange): number {
  return (repliedUntil(spoilt) ?? 0) - (repliedFrom(spoilt) ?? 0);
}

/** Bytes that come slowly, but as the specification allows. */
export const trickleSlow: Check = {
  id: 'trickle-slow',
  group: 'time',
  title: 'Takes a reply whose bytes come slowly',
  does: 'Sends one reply byte by byte with pauses of 80 % of t1.5.',
  matters: 'Small devices and radio links send like this, and the specification allows it.',
  rule: 'Passes when the client goes on as after a good reply, fails when it asks again or stops; inconclusive when it goes on later than usual.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.1: pauses up to 1.5 characters inside a frame',
  transports: ['serial'],
  needs: ['time-out'],
  async run(exam) {
    const gap = WITHIN_T15 * exam.line.t15;
    const seen = await spoilOne(exam, [{ split: { at: 'each', gap } }]);
    if (typeof seen === 'string') return inconclusive(seen);
    const { spoilt, next, afterMs = 0, evidence } = seen;
    const told = `pauses of ${numberText(gap)} ms in a reply`;
    switch (reactionOf(exam, spoilt, next, longerBy(spoilt))) {
      case 'as usual':
        return pass(`took the reply with ${told}`, evidence);
      case 'again':
        return fail(
          `asked again after ${numberText(afterMs)} ms`,
          evidence,
          `does not take replies with ${told}`,
        );
      case 'nothing':
        return fail('asked nothing more after it', evidence, `stops after ${told}`);
      default:
        return inconclusive(
          `went on after ${numberText(afterMs)} ms; the line does not show if it took it`,
          evidence,
        );
    }
  },
};

/** Bytes that come with pauses that end a frame. */
export const trickleGaps: Check = {
  id: 'trickle-gaps',
  group: 'time',
  title: 'Survives pauses over t3.5 in a reply',
  does: 'Sends one reply with a pause of twice t3.5 before each byte.',
  matters:
    'Behind a USB adapter or a gateway such pauses come from the operating system. The client may take the reply or ask again, but must not lose its step.',
  rule: 'Passes when the client takes the reply or asks again, and then polls as before; fails when it does not poll as before.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.1: a frame with such a pause is to be thrown away',
  transports: ['serial'],
  needs: ['time-out'],
  async run(exam) {
    const gap = OVER_T35 * exam.line.t35;
    const seen = await spoilOne(exam, [{ split: { at: 'each', gap } }]);
    if (typeof seen === 'string') return inconclusive(seen);
    const { spoilt, next, afterMs = 0, evidence } = seen;
    const reaction = reactionOf(exam, spoilt, next, longerBy(spoilt));
    if (!(await exam.recover())) {
      return fail('did not poll as before afterwards', evidence, 'loses its step at pauses in a reply');
    }
    const told = `with pauses of ${numberText(gap)} ms`;
    if (reaction === 'as usual') return pass(`took the reply ${told}, or left it`, evidence);
    return pass(`went on ${numberText(afterMs)} ms after the request whose reply came ${told}`, evidence);
  },
};
