import { damageCheck } from './damage.js';
import { READS_NOTHING, readingOf } from './reading.js';

/** A reply with fewer values than were asked for. */
export const fewerRegisters = damageCheck({
  id: 'fewer-registers',
  title: 'Throws away a reply with fewer values than asked',
  what: 'a reply with too few values',
  does: 'Sends one reply that is valid in itself, with one register (eight bits) less than was asked for.',
  matters:
    'The late reply to a shorter question looks like this; a client that does not count fills up with what was there before.',
  source: 'Application Protocol V1.1b3, 6.1 to 6.4',
  faults: (exam) => {
    const reading = readingOf(exam);
    if (!reading) return READS_NOTHING;
    const less = reading.isBits ? 1 : 2;
    if (reading.bytes <= less) return 'the client asks for one value only, and a reply can have no fewer';
    // The field that is set last makes the CRC or the length anew.
    return [{ truncate: -less * charactersOf(exam.line.framing) }, { byteCount: reading.bytes - less }];
  },
});

/** A byte is two characters on an ASCII line. */
function charactersOf(framing: 'rtu' | 'ascii' | 'socket'): number {
  return framing === 'ascii' ? 2 : 1;
}
