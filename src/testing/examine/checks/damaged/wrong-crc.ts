import { type Check, fail, inconclusive, pass } from '../../check.js';
import { numberText } from '../../found.js';
import { reactionOf } from '../../reaction.js';
import { spoilOne } from '../../spoil.js';

/** A reply with a wrong CRC. */
export const wrongCrc: Check = {
  id: 'wrong-crc',
  group: 'damaged',
  title: 'Throws away a reply with a wrong CRC',
  does: 'Inverts the CRC of one reply.',
  matters: 'A client that does not check the CRC takes noise for values.',
  rule: 'Passes when the client asks again or waits for another reply; fails when it asks nothing more; inconclusive when it goes on as after a good reply.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.2',
  abilities: ['crc'],
  async run(exam) {
    const seen = await spoilOne(exam, [{ crc: 'invert' }]);
    if (typeof seen === 'string') return inconclusive(seen);
    const { spoilt, next, afterMs = 0, evidence } = seen;
    switch (reactionOf(exam, spoilt, next)) {
      case 'again':
        return pass(
          `asked again ${numberText(afterMs)} ms after the request whose reply was spoilt`,
          evidence,
        );
      case 'later':
        return pass(
          `did not take the reply: went on only ${numberText(afterMs)} ms after the request`,
          evidence,
        );
      case 'nothing':
        return fail('asked nothing more after it', evidence, 'stops after a reply with a wrong CRC');
      default:
        return inconclusive(
          'went on as after a good reply; the line does not show if it took the value',
          evidence,
        );
    }
  },
};
