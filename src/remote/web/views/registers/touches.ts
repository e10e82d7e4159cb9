import { functionOf } from '../../../../modbus/protocol/function-table.js';
import type { DeviceView } from '../../../../simulator/commands/schemas/device.js';
import type { Words } from '../../../../simulator/commands/schemas/value.js';
import type { Batch } from '../../live.js';

type WordTable = Words['table'];

/** Registers that clients have just read or written. */
export interface Touch {
  readonly kind: 'read' | 'written';
  readonly from: number;
  /** The address after the last one. */
  readonly end: number;
}

/** The function codes in the specification. */
const CODES = Array.from({ length: 44 }, (_, code) => code);

/** Number of addresses in a block of the filter, so that scrolling rarely needs another filter. */
const BLOCK = 1024;
const FIRST_CELL_WITHOUT_BITS = 4096;

/**
 * The filter for events that access a table of a device near the visible addresses; undefined if the device
 * is not on any line.
 */
export function trafficOf(
  { lines }: Pick<DeviceView, 'lines'>,
  table: WordTable,
  seen: { readonly from: number; readonly end: number },
  bitsToAddress: 1 | 16,
): URLSearchParams | undefined {
  const units = new Set(Object.values(lines).flat());
  if (units.size === 0) return undefined;
  const scale = isPacked(table, bitsToAddress) ? 16 : 1;
  const first = seen.from - (seen.from % BLOCK);
  const last = Math.min(seen.end - 1 + BLOCK - ((seen.end - 1) % BLOCK), 65_536 / scale) - 1;
  if (scale === 16 && first >= FIRST_CELL_WITHOUT_BITS) return undefined;
  return new URLSearchParams([
    ...Object.keys(lines).map((line) => ['line', line]),
    ['unit', [0, ...units].join(',')],
    ['kind', 'reply,broadcast'],
    ['function', CODES.filter((code) => functionOf(code)?.table === table).join(',')],
    ['address', `${first * scale}-${(last + 1) * scale - 1}`],
  ]);
}

/** The registers in a table of a device that were accessed by the events of a batch. */
export function touchesOf(
  batch: Batch,
  { lines }: Pick<DeviceView, 'lines'>,
  table: WordTable,
  bitsToAddress: 1 | 16,
): Touch[] {
  const touches: Touch[] = [];
  const add = (kind: Touch['kind'], address: number, count: number) => {
    const scale = isPacked(table, bitsToAddress) ? 16 : 1;
    const end = Math.ceil((address + count) / scale);
    touches.push({ kind, from: Math.floor(address / scale), end });
  };
  for (const event of batch) {
    if (event.kind === 'left out' || event.exception !== undefined) continue;
    const { line, unit, kind, address, quantity = 1, written } = event;
    const isOurs = lines[line]?.includes(String(unit)) || (kind === 'broadcast' && line in lines);
    if (!isOurs || address === undefined) continue;
    const row = functionOf(event.function);
    const isHere = row?.table === table;
    if (kind === 'reply' && isHere && row.values) add('read', address, quantity);
    if (written?.table === table) add('written', written.address, written.values?.length ?? 1);
    if (kind === 'broadcast' && isHere) add('written', address, quantity);
  }
  return touches;
}

/** A range in a client's request that is at least partly undefined. */
export interface Missing {
  readonly table: WordTable;
  readonly address: number;
  readonly quantity: number;
  /** The range as text: `holding 100–101`. */
  readonly text: string;
}

const ILLEGAL_DATA_ADDRESS = 2;
const MOST_MISSING = 8;

/** Ranges that a device has rejected with exception 02 and still does not define, newest first. */
export function missingIn(
  batch: Batch,
  { lines }: Pick<DeviceView, 'lines'>,
  defined: NonNullable<DeviceView['defined']>,
): Missing[] {
  const found = new Map<string, Missing>();
  for (const event of batch.toReversed()) {
    if (event.kind !== 'reply' || event.exception !== ILLEGAL_DATA_ADDRESS) continue;
    const { line, unit, address, quantity = 1 } = event;
    const table = functionOf(event.function)?.table;
    if (!table || address === undefined || !lines[line]?.includes(String(unit))) continue;
    const last = address + quantity - 1;
    if (defined[table]?.ranges.some(([from, to]) => from <= address && last <= to)) continue;
    const text = `${table} ${address}${quantity > 1 ? `–${last}` : ''}`;
    if (found.size < MOST_MISSING) found.set(text, { table, address, quantity, text });
  }
  return [...found.values()];
}

/** Whether 16 coils share an address, as in pymodbus files. */
function isPacked(table: WordTable, bitsToAddress: 1 | 16): boolean {
  return (table === 'coils' || table === 'discrete') && bitsToAddress === 16;
}
