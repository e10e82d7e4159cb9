import type { AddressRange } from '../protocol/address-range.js';
import { FunctionCode } from '../protocol/function-code.js';

/** The place of a value with a name: registers of a table of a device. */
export interface NamedValue {
  readonly device: string;
  readonly table: 'coils' | 'discrete' | 'input' | 'holding';
  readonly address: number;
  readonly quantity: number;
}

/** Finds the value of a name such as `meter.voltage`; a text says why there is none. */
export type FindValue = (name: string) => NamedValue | string;

/** The registers that a request is for. */
export interface Access {
  /** The name of the device that the request is for. */
  readonly device: string;
  readonly functionCode: number;
  /** The addresses that the request touches; none for functions without any. */
  readonly ranges: readonly AddressRange[];
}

/** The table that each function with addresses is for (Application Protocol V1.1b3, 6). */
const TABLES: ReadonlyMap<number, NamedValue['table']> = new Map([
  [FunctionCode.readCoils, 'coils'],
  [FunctionCode.writeSingleCoil, 'coils'],
  [FunctionCode.writeMultipleCoils, 'coils'],
  [FunctionCode.readDiscreteInputs, 'discrete'],
  [FunctionCode.readInputRegisters, 'input'],
  [FunctionCode.readHoldingRegisters, 'holding'],
  [FunctionCode.writeSingleRegister, 'holding'],
  [FunctionCode.writeMultipleRegisters, 'holding'],
  [FunctionCode.maskWriteRegister, 'holding'],
  [FunctionCode.readWriteMultipleRegisters, 'holding'],
]);

/** True when the request reads or writes at least one register of the value. */
export function touchesValue(
  { device, functionCode, ranges }: Access,
  { address, quantity, ...value }: NamedValue,
): boolean {
  if (device !== value.device || TABLES.get(functionCode) !== value.table) return false;
  return ranges.some((range) => touches(range, address, address + quantity - 1));
}

/** True when a range has an address from `first` to `last`. */
export function touches({ address, quantity }: AddressRange, first: number, last: number): boolean {
  return quantity > 0 && address <= last && address + quantity > first;
}
