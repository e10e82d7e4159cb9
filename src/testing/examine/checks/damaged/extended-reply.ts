import { damageCheck } from './damage.js';

const MORE_BYTES = 3;

/** A reply with bytes behind it. */
export const extended = damageCheck({
  id: 'extended-reply',
  title: 'Survives bytes behind a reply',
  what: 'bytes behind a reply',
  does: `Sends ${MORE_BYTES} random bytes right behind one reply.`,
  matters:
    'Bytes that stay in a buffer are taken for the beginning of the next reply, and then each one is wrong.',
  source:
    'Modbus over Serial Line V1.02, 2.5.1.1: the frame ends with the silence; common with adapters that switch late',
  isIntact: true,
  isHarmless: true,
  faults: () => [{ extend: MORE_BYTES }],
});
