import type { Device } from '../../device/device.js';
import type { Action } from '../../device/registers/actions.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import { type FoundRegister, presentValue, runsOf, type ValueRun } from './runs.js';

/** The number of cells that are looked at without a pause. */
const CELLS_AT_ONCE = 256;

/** The number of registers that the action `timestamp` fills. */
const TIMESTAMP_CELLS = 7;

/**
 * An entry of a table in the form of a native file, or a comment on the table; undefined while the search
 * goes on.
 */
export type WrittenEntry = Readonly<Record<string, unknown>> | string | undefined;

/**
 * The entries of a table of a device that was not defined by entries: the device of a pymodbus file. Its
 * tables may share cells, but in a native file each table has its own.
 */
export function* plainEntries(device: Device, table: TableName): Generator<WrittenEntry> {
  const isBits = table === 'coils' || table === 'discrete';
  if (isBits && hasActions(device, table)) yield "actions of registers don't run when their bits are read";
  const found = isBits ? bitsOf(device, table) : valuesOf(device, table);
  for (const run of runsOf(found)) {
    if (run?.inexact) yield inexactComment(run.address);
    yield run && entryOf(run);
  }
}

/** The comment on the entry at `address`, whose text or NaN does not stand for the same bytes. */
export function inexactComment(address: number): string {
  return `registers from ${address} on hold other bytes that mean the same, or are no text`;
}

/** True when some tables share registers. */
export function sharesCells({ tables }: Device): boolean {
  const windows = TABLE_NAMES.map((name) => tables[name].window);
  return windows.some((one, i) =>
    windows
      .slice(i + 1)
      .some((other) => one.image === other.image && one.size > 0 && one.base === other.base),
  );
}

function hasActions({ tables }: Device, table: TableName): boolean {
  const { image, base, size } = tables[table].window;
  return image.hasActions(base, size);
}

function* bitsOf({ tables }: Device, table: TableName): Generator<FoundRegister> {
  const { image, base, size, bitsPerCell } = tables[table].window;
  const bits = Math.min(size * bitsPerCell, ADDRESS_SPACE);
  for (let address = 0; address < bits; address++) {
    const cell = base + Math.floor(address / bitsPerCell);
    if (address % CELLS_AT_ONCE === 0) yield undefined;
    if (image.typeAt(cell) === 'invalid') continue;
    const written = tables[table].bitAt(address) ? 1 : 0;
    yield [address, { type: 'bit', cells: 1, written, writable: image.isWritable(cell) }];
  }
}

function* valuesOf({ tables }: Device, table: TableName): Generator<FoundRegister> {
  const { image, base, size } = tables[table].window;
  let pausedAt = base;
  for (let cell = base; cell < base + size; ) {
    if (cell - pausedAt >= CELLS_AT_ONCE) {
      yield undefined;
      pausedAt = cell;
    }
    const type = image.typeAt(cell);
    if (type === 'invalid') {
      cell++;
      continue;
    }
    const location = type === 'next' ? undefined : image.valueSpan(cell);
    // Of a value that lies across the border of two tables, each table has only some registers.
    const isWhole = location !== undefined && cell + location.cells <= base + size;
    const value = presentValue(image, isWhole ? location : { address: cell, cells: 1, type: 'uint16' });
    yield [cell - base, value];
    cell += value.cells;
  }
}

function entryOf({ address, first, values, quantity }: ValueRun): Readonly<Record<string, unknown>> {
  const { type, cells, writable, action, padding } = first;
  return {
    address,
    ...(type !== 'bit' && type !== 'uint16' && { type }),
    value: values.length === 1 ? values[0] : values,
    ...(values.length < quantity && { quantity }),
    ...(type === 'string' && { length: cells }),
    ...(padding && { padding }),
    ...(writable && { write: true }),
    ...(action && actionKeys(action, quantity)),
  };
}

/** The keys of an action. A timestamp of a native file always fills seven registers. */
function actionKeys({ name, minval, maxval }: Action, quantity: number) {
  if (name === 'timestamp' && quantity % TIMESTAMP_CELLS !== 0) return {};
  return { action: name, min: minval, max: maxval };
}
