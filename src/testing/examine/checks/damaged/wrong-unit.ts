import { damageCheck } from './damage.js';

const LAST_UNIT = 247;

/** A reply of another unit. */
export const wrongUnit = damageCheck({
  id: 'wrong-unit',
  title: 'Throws away a reply of another unit',
  what: 'a reply of another unit',
  does: 'Sends one reply with the unit identifier of a unit that was not asked; the frame is valid.',
  matters:
    'On a serial line the late reply of another device looks like this, and its value belongs elsewhere.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: a reply from an unexpected slave is ignored',
  faults: ({ target: { unitId } }) => [{ unit: unitId < LAST_UNIT ? unitId + 1 : unitId - 1 }],
});
