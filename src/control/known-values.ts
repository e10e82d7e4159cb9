import type { Device } from '../device/device.js';
import { storedAs } from '../device/mannered-answer.js';
import { TABLE_NAMES, type TableName } from '../device/tables.js';
import type { ValueOrder, ValueType } from '../registers/cell-type.js';
import { type OfDevice, unknownDevice } from './devices.js';
import { done, type Outcome } from './refusal.js';
import type { Room } from './room.js';

/** Where clients find a value that has a name, and what the registers there mean. */
export type NamedValue = readonly [
  table: TableName,
  address: number,
  cells: number,
  name: string,
  type: ValueType,
  order: ValueOrder,
  scale: number,
  unit: string | undefined,
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

/** The values of a device with names, and those of several registers: for showing in the traffic what these registers are. */
export interface KnownValues {
  readonly values: readonly NamedValue[];
  /** In the order of their addresses. */
  readonly typed: readonly TypedValues[];
}

/** Registers of one table, as clients count them. */
interface Part {
  readonly table: TableName;
  readonly address: number;
  readonly quantity: number;
}

export function namesOfDevice({ simulator }: Room, { device: name }: OfDevice): Outcome<KnownValues> {
  const device = simulator.devices.get(name);
  return device ? done(knownValuesOf(device)) : unknownDevice(simulator, name);
}

/** @param part what is to be known of, in place of all: that takes little time however much the device has */
export function knownValuesOf(device: Device, part?: Part): KnownValues {
  const tables = TABLE_NAMES.filter((table) => part === undefined || table === part.table).map((table) => {
    const { source, first } = storedAs(device.manners ?? {}, table);
    const from = first + (part?.address ?? 0);
    const end = part ? from + part.quantity : device.tables[source].window.size;
    return { table, source, first, from, end };
  });
  const named = Array.from(device.points.named);
  const values = tables.flatMap(({ table, source, first, from, end }) =>
    named
      .filter(
        ([, { definition: at }]) =>
          at.table === source && at.address >= first && at.address < end && at.address + at.cells > from,
      )
      .map(([name, { definition, image, location }]): NamedValue => {
        const { address, cells, type, scale, unit } = definition;
        return [table, address - first, cells, name, type, image.orderAt(location.address), scale, unit];
      }),
  );
  // Of bits, a value of several cells is not what a client reads.
  const ofRegisters = tables.filter(({ table }) => table === 'input' || table === 'holding');
  return { values, typed: ofRegisters.flatMap((each) => typedIn(device, each)) };
}

interface Stored {
  readonly table: TableName;
  readonly source: TableName;
  /** The address that clients call 0. */
  readonly first: number;
  /** Where to look, from the first address of `source` that is meant. */
  readonly from: number;
  readonly end: number;
}

/** The values of several registers of a table. */
function typedIn(device: Device, { table, source, first, from, end }: Stored): TypedValues[] {
  const { image, base, size } = device.tables[source].window;
  const found: { address: number; cells: number; count: number; type: ValueType; order: ValueOrder }[] = [];
  let start = Math.min(from, size);
  while (start > first && image.typeAt(base + start) === 'next') start--;
  for (let address = start; address < Math.min(end, size); ) {
    const type = image.typeAt(base + address);
    let cells = 1;
    while (address + cells < size && image.typeAt(base + address + cells) === 'next') cells++;
    if (type !== 'next' && type !== 'invalid' && cells > 1) {
      const order = image.orderAt(base + address);
      const last = found.at(-1);
      const goesOn =
        last?.type === type &&
        last.cells === cells &&
        last.address + last.count * cells === address &&
        last.order.wordOrder === order.wordOrder &&
        last.order.byteOrder === order.byteOrder &&
        last.order.padding === order.padding;
      if (goesOn) last.count++;
      else found.push({ address, cells, count: 1, type, order });
    }
    address += cells;
  }
  return found.map(({ address, cells, count, type, order }) => [
    table,
    address - first,
    cells,
    count,
    type,
    order,
  ]);
}
