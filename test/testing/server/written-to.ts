import { isRtuFrame } from '../../../src/modbus/protocol/rtu.js';
import type { ServerTestOrder } from '../../../src/testing/server/bench.js';

/*
 * What requests on a wire write, read from their bytes alone: by quantity, byte count and data, whichever reaches
 * furthest, as servers may look at one of them only. Also requests inside of other bytes, with headers or check values.
 */

interface Written {
  readonly table: 'holding' | 'coils';
  readonly first: number;
  readonly last: number;
}

const word = (bytes: Uint8Array, at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

function writtenBy(pdu: Uint8Array): Written | undefined {
  const span = (table: Written['table'], first: number, many: number) => ({
    ...{ table, first, last: first + Math.max(1, many) - 1 },
  });
  const count = pdu[5] ?? 0;
  switch (pdu[0]) {
    case 5:
      return span('coils', word(pdu, 1), 1);
    case 6:
    case 22:
      return span('holding', word(pdu, 1), 1);
    case 15:
      return span('coils', word(pdu, 1), Math.max(word(pdu, 3), count === 1 ? 1 : 8 * (count - 1) + 1));
    case 16:
      return span('holding', word(pdu, 1), Math.max(word(pdu, 3), count >> 1, (pdu.length - 6) >> 1));
    case 21:
      return span('holding', 0, 65536);
    case 23:
      return span('holding', word(pdu, 5), Math.max(word(pdu, 7), (pdu[9] ?? 0) >> 1));
    default:
      return undefined;
  }
}

const WRITES = new Set([5, 6, 15, 16, 21, 22, 23]);

/** All PDUs that write in what was sent at once: of the frame that it is, and of those inside of it. */
function* pdusIn(bytes: Uint8Array, on: 'tcp' | 'serial'): Generator<Uint8Array> {
  for (let start = 0; start + 4 <= bytes.length; start++) {
    const code = bytes[start + (on === 'tcp' ? 7 : 1)];
    if (code === undefined || !WRITES.has(code)) continue;
    if (on === 'tcp' && start === 0) yield bytes.subarray(7);
    if (on === 'tcp' && start > 0) {
      const end = start + 6 + word(bytes, start + 4);
      const isFrame = word(bytes, start + 2) === 0 && end >= start + 12 && bytes[start + 6] === 1;
      if (isFrame && end <= bytes.length) yield bytes.subarray(start + 7, end);
    }
    if (on === 'serial')
      for (let end = start + 4; end <= Math.min(bytes.length, start + 256); end++)
        if (isRtuFrame(bytes, start, end)) yield bytes.subarray(start + 1, end - 2);
  }
}

/** The writes among all that was sent that are not inside the scratch range, as texts. */
export function outsideOf(
  scratch: ServerTestOrder['scratch'],
  sent: readonly Uint8Array[],
  on: 'tcp' | 'serial',
): { readonly writes: number; readonly outside: readonly string[] } {
  const all = sent.flatMap((bytes) => [...pdusIn(bytes, on)].flatMap((pdu) => writtenBy(pdu) ?? []));
  const outside = all.filter(({ table, first, last }) => {
    const range = scratch[table];
    return !range || first < range.first || last > range.last;
  });
  return {
    writes: all.length,
    outside: outside.map(({ table, first, last }) => `${table} ${first} to ${last}`),
  };
}
