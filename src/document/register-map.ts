import { CELLS_PER_VALUE, type Order, type ValueType } from '../device/registers/cell-type.js';
import type { TableName } from '../device/tables.js';

/** A value in another program's file. Its address is 0-based, as on the wire. */
export interface ImportedValue {
  readonly table: TableName;
  readonly address: number;
  /** The type; `bit` in coils and discrete inputs. */
  readonly type: ValueType;
  readonly length?: number;
  /** The part of the register that the value occupies, such as `bit 3` or `low byte`; absent for whole registers. */
  readonly part?: string;
  /** True for a register that a row only counts: others may be in its place. */
  readonly rest?: true;
  readonly name?: string;
  readonly description?: string;
  readonly unit?: string;
  readonly scale?: number;
  readonly wordOrder?: Order;
  readonly byteOrder?: Order;
  readonly write?: boolean;
  /** What clients may write, in the unit of the value. */
  readonly limits?: { readonly min?: number | undefined; readonly max?: number | undefined };
  /** The stored value, before `scale`. */
  readonly value?: number | string;
  /** The position of the value in the file: `line 12` or `inputs.modbus[0].coils[2]`. */
  readonly location: string;
}

export interface ImportedDevice {
  readonly unit: number;
  readonly name: string;
  readonly values: readonly ImportedValue[];
  /** The entry of a device that the reader created as a whole; `values` is then empty. */
  readonly whole?: {
    readonly entry: object;
    /** A description of the entry's contents. */
    readonly holds: string;
    readonly values: number;
  };
}

/** Returns the number of registers that a value occupies. */
export function cellsOf({
  type,
  length = 1,
}: {
  readonly type: ValueType;
  readonly length?: number | undefined;
}): number {
  return type === 'string' ? length : CELLS_PER_VALUE[type];
}
