import { damageCheck } from './damage.js';
import { READS_NOTHING, readingOf } from './reading.js';

/** The byte count says less than is there, where there is enough. */
const FEWEST_BYTES = 4;

/** A reply whose byte count does not fit its data. */
export const wrongByteCount = damageCheck({
  id: 'wrong-byte-count',
  title: 'Throws away a reply with a wrong byte count',
  what: 'a reply with a wrong byte count',
  does: 'Sends one reply whose byte count is two less than its data bytes, or two more where there are few; the rest of the frame is valid.',
  matters: 'A client that believes the byte count reads past the end of the data, or cuts values off.',
  source: 'Application Protocol V1.1b3, 6.1 to 6.4',
  faults: (exam) => {
    const reading = readingOf(exam);
    if (!reading) return READS_NOTHING;
    const { bytes } = reading;
    return [{ byteCount: bytes >= FEWEST_BYTES ? bytes - 2 : bytes + 2 }];
  },
});
