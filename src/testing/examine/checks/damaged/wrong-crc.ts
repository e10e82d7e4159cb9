import { damageCheck } from './damage.js';

/** A reply with a wrong CRC. */
export const wrongCrc = damageCheck({
  id: 'wrong-crc',
  title: 'Throws away a reply with a wrong CRC',
  what: 'a reply with a wrong CRC',
  does: 'Inverts the CRC of one reply (the LRC on an ASCII line).',
  matters: 'A client that does not check the CRC takes noise for values.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.2',
  abilities: ['crc'],
  faults: () => [{ crc: 'invert' }],
});
