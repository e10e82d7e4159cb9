import { FunctionCode } from '../protocol/function-code.js';
import { addressRanges, type RefusedRange } from '../protocol/pdu.js';
import type { Tables } from './tables.js';

/** The table of each function that reads or writes one (Application Protocol V1.1b3, 6), and where it writes: of 23 the second range. */
const ACCESSES: ReadonlyMap<number, { readonly table: keyof Tables; readonly writes: number | undefined }> =
  new Map([
    [FunctionCode.readCoils, { table: 'coils', writes: undefined }],
    [FunctionCode.readDiscreteInputs, { table: 'discrete', writes: undefined }],
    [FunctionCode.readHoldingRegisters, { table: 'holding', writes: undefined }],
    [FunctionCode.readInputRegisters, { table: 'input', writes: undefined }],
    [FunctionCode.writeSingleCoil, { table: 'coils', writes: 0 }],
    [FunctionCode.writeSingleRegister, { table: 'holding', writes: 0 }],
    [FunctionCode.writeMultipleCoils, { table: 'coils', writes: 0 }],
    [FunctionCode.writeMultipleRegisters, { table: 'holding', writes: 0 }],
    [FunctionCode.maskWriteRegister, { table: 'holding', writes: 0 }],
    [FunctionCode.readWriteMultipleRegisters, { table: 'holding', writes: 1 }],
  ] as const);

/**
 * Which addresses are the reason that a request was answered with exception 02. Call right after the answer, which has
 * changed nothing. Undefined where another reason refused it, such as a password.
 */
export function refusedAddresses(tables: Tables, requestPdu: Uint8Array): RefusedRange | undefined {
  const access = ACCESSES.get(requestPdu[0] as number);
  if (!access) return undefined;
  const of = access.table === 'coils' || access.table === 'discrete' ? 'bits' : 'words';
  for (const [i, range] of addressRanges(requestPdu).entries()) {
    const refused = tables[access.table].refused(range, of, i === access.writes);
    if (refused) return refused;
  }
  return undefined;
}
