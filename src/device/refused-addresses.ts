import { functionOf } from '../modbus/protocol/function-table.js';
import { addressRanges, type RefusedRange } from '../modbus/protocol/pdu.js';
import type { Tables } from './tables.js';

/**
 * Returns the addresses for which a request was answered with exception 02. Call this right after the answer,
 * which has changed nothing. Undefined where there was another reason, such as a password.
 */
export function refusedAddresses(tables: Tables, requestPdu: Uint8Array): RefusedRange | undefined {
  const { table, broadcast: writes = false } = functionOf(requestPdu[0]) ?? {};
  if (table === undefined) return undefined;
  const of = table === 'coils' || table === 'discrete' ? 'bits' : 'words';
  const ranges = addressRanges(requestPdu);
  for (const [i, range] of ranges.entries()) {
    // A request that a server executes as a broadcast is a write. Function 23 reads its first range and
    // writes its second (Application Protocol V1.1b3, 6.17).
    const refused = tables[table].refused(range, of, writes && i === ranges.length - 1);
    if (refused) return refused;
  }
  return undefined;
}
