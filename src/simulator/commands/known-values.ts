import type { Device } from '../../device/device.js';
import { storedAs } from '../../device/manners.js';
import type { ValueOrder, ValueType } from '../../device/registers/cell-type.js';
import type { BitNames } from '../../device/registers/value.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { CommandContext } from './context.js';
import { type OfDevice, unknownDevice } from './devices.js';
import { done, type Outcome } from './refusal.js';

/** Where clients find a value with a name, and what its registers mean. */
export type NamedValue = readonly [
  table: TableName,
  address: number,
  cells: number,
  name: string,
  type: ValueType,
  order: ValueOrder,
  scale: number,
  unit: string | undefined,
  bits: BitNames | undefined,
];

/** Values of one type side by side, each of the same number of registers. */
export type TypedValues = readonly [
  table: TableName,
  address: number,
  cells: number,
  count: number,
  type: ValueType,
  order: ValueOrder,
];

/**
 * What some registers of a device are, for showing them in the traffic: values with names, and values of
 * several registers.
 */
export type KnownValue = NamedValue | TypedValues;

/** Registers of one table, with the addresses that clients use. */
interface Part {
  readonly table: TableName;
  readonly address: number;
  readonly quantity: number;
}

/** All known values of a device, in pieces: a large device has tens of thousands. */
export function namesOfDevice(
  { simulator }: CommandContext,
  { device: name }: OfDevice,
): Outcome<Iterable<KnownValue | undefined>> {
  const device = simulator.devices.get(name);
  return device ? done(knownValues(device)) : unknownDevice(simulator, name);
}

/** The number of values or registers that are left out before the lines can be served again. */
const MANY = 256;

/**
 * For each table, the values with names, and then the others in the order of their addresses. Yields
 * undefined when the lines can be served.
 * @param part limits the values to some registers
 */
export function* knownValues(device: Device, part?: Part): Generator<KnownValue | undefined> {
  for (const table of TABLE_NAMES) {
    if (part && part.table !== table) continue;
    const { source, first } = storedAs(device.manners ?? {}, table);
    const from = first + (part?.address ?? 0);
    const end = part ? from + part.quantity : device.tables[source].window.size;
    const stored = { table, source, first, from, end };
    yield* namedIn(device, stored);
    // For bits, a value of several cells is not what a client reads.
    if (table === 'input' || table === 'holding') yield* typedIn(device, stored);
  }
}

interface Stored {
  readonly table: TableName;
  readonly source: TableName;
  /** The address that clients call 0. */
  readonly first: number;
  /** The first address to look at, in `source`. */
  readonly from: number;
  readonly end: number;
}

function* namedIn(device: Device, { table, source, first, from, end }: Stored) {
  let seen = 0;
  for (const [name, { definition, image, location }] of device.points.named) {
    const { address, cells, type, scale, unit, bits } = definition;
    const isMeant =
      definition.table === source && address >= first && address < end && address + cells > from;
    if (isMeant) {
      const order = image.orderAt(location.address);
      yield [table, address - first, cells, name, type, order, scale, unit, bits] satisfies NamedValue;
    } else if (++seen % MANY === 0) yield undefined;
  }
}

/** Values of which the count is still growing. */
type Counted = { -readonly [Part in keyof TypedValues]: TypedValues[Part] };

/** The values of several registers in a table. */
function* typedIn(device: Device, { table, source, first, from, end }: Stored) {
  const { image, base, size } = device.tables[source].window;
  let last: Counted | undefined;
  let start = Math.min(from, size);
  while (start > first && image.typeAt(base + start) === 'next') start--;
  for (let address = start, seen = 0; address < Math.min(end, size); ) {
    const type = image.typeAt(base + address);
    let cells = 1;
    while (address + cells < size && image.typeAt(base + address + cells) === 'next') cells++;
    if (type !== 'next' && type !== 'invalid' && cells > 1) {
      const one: Counted = [table, address - first, cells, 1, type, image.orderAt(base + address)];
      if (last && isNextOf(last, one)) last[3]++;
      else {
        if (last) yield last;
        last = one;
      }
    }
    address += cells;
    if (++seen % MANY === 0) yield undefined;
  }
  if (last) yield last;
}

/** True when a value has the same type as others and stands right behind them. */
function isNextOf(
  [, from, size, count, kind, before]: TypedValues,
  [, address, cells, , type, order]: TypedValues,
): boolean {
  return (
    kind === type &&
    size === cells &&
    from + count * size === address &&
    before.wordOrder === order.wordOrder &&
    before.byteOrder === order.byteOrder &&
    before.padding === order.padding
  );
}
