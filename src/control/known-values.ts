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

export function namesOfDevice({ simulator }: Room, { device: name }: OfDevice): Outcome<KnownValues> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const tables = TABLE_NAMES.map((table) => ({ table, ...storedAs(device.manners ?? {}, table) }));
  const named = Array.from(device.points.named, ([each, { definition, image, location }]) => ({
    ...definition,
    name: each,
    order: image.orderAt(location.address),
  }));
  const values = tables.flatMap(({ table, source, first }) =>
    named
      .filter((each) => each.table === source && each.address >= first)
      .map(
        ({ address, cells, name: each, type, order, scale, unit }): NamedValue => [
          table,
          address - first,
          cells,
          each,
          type,
          order,
          scale,
          unit,
        ],
      ),
  );
  // Of bits, a value of several cells is not what a client reads.
  const ofRegisters = tables.filter(({ table }) => table === 'input' || table === 'holding');
  const typed = ofRegisters.flatMap(({ table, source, first }) => typedIn(device, table, source, first));
  return done({ values, typed });
}

/** The values of several registers of a table. It takes up to a ms: for one device at a time. */
function typedIn(device: Device, table: TableName, source: TableName, first: number): TypedValues[] {
  const { image, base, size } = device.tables[source].window;
  const found: { address: number; cells: number; count: number; type: ValueType; order: ValueOrder }[] = [];
  for (let address = first; address < size; ) {
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
