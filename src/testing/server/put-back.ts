import { FunctionCode } from '../../modbus/protocol/function-code.js';
import type { AskOptions, Exchange } from './exchange.js';
import { readPdu, readWrite, type ScratchTable, write15, write16 } from './requests.js';

interface Asking {
  ask(pdu: Uint8Array, options?: AskOptions): Promise<Exchange>;
}

/** Values to restore on a server. `differing` has the addresses whose present values differ. */
interface ToPutBack {
  readonly unitId: number;
  readonly first: number;
  readonly had: readonly number[];
  readonly differing: readonly number[];
}

/** Resolves to true if the server confirms at least one write. */
type Way = (bench: Asking, back: ToPutBack) => Promise<boolean>;

/** Writes each differing value with a function. If the server falls silent, the rest are not tried. */
const eachBy =
  (pdu: (address: number, value: number) => Uint8Array): Way =>
  async (bench, { unitId, first, had, differing }) => {
    let isTaken = false;
    for (const i of differing) {
      const { kind } = (await bench.ask(pdu(first + i, had[i] ?? 0), { unitId })).answer;
      if (kind === 'silent' || kind === 'closed') break;
      isTaken ||= kind === 'data';
    }
    return isTaken;
  };

const allBy =
  (pdu: (address: number, values: readonly number[]) => Uint8Array): Way =>
  async (bench, { unitId, first, had }) =>
    (await bench.ask(pdu(first, had), { unitId })).answer.kind === 'data';

/** The functions for restoring values, fastest first. */
export const WAYS: Readonly<Record<ScratchTable, readonly Way[]>> = {
  holding: [
    allBy(write16),
    eachBy((address, value) => readPdu(FunctionCode.writeSingleRegister, address, value)),
    eachBy((address, value) => write16(address, [value])),
    eachBy((address, value) => readWrite(address, 1, address, value)),
  ],
  coils: [
    allBy(write15),
    eachBy((address, value) => readPdu(FunctionCode.writeSingleCoil, address, value ? 0xff00 : 0)),
    eachBy((address, value) => write15(address, [value])),
  ],
};
