import { addressRanges } from '../../protocol/pdu.js';
import type { Question } from './rhythm.js';

/** The conditions of a fault rule that acts on one question alone. */
export function conditionsOf({ unitId, functionCode, pdu }: Question): object {
  const [range] = addressRanges(pdu);
  return {
    unit: unitId,
    function: functionCode,
    ...(range && { address: range.address, quantity: range.quantity }),
  };
}
