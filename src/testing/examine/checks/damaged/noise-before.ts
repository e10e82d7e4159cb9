import { damageCheck } from './damage.js';

const NOISE_BYTES = 3;

/** A reply with noise before it. */
export const noiseBefore = damageCheck({
  id: 'noise-before',
  title: 'Survives noise before a reply',
  what: 'noise before a reply',
  does: `Sends ${NOISE_BYTES} random bytes right before one reply.`,
  matters: 'Lines without bias resistors make such bytes whenever a driver is switched on.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.2 and 3.4.6 (line polarization)',
  isIntact: true,
  faults: () => [{ noise: NOISE_BYTES }],
});
