import { wordAt } from './bytes.js';
import { FunctionCode } from './function-code.js';

export interface AddressRange {
  readonly address: number;
  readonly quantity: number;
}

/**
 * The addresses that a request PDU names, without judging them: none for functions that address no registers,
 * functions 20 and 21 with their records among them; two ranges for function 23, which reads one and writes the other.
 * Function 24 names the pointer of a queue (Application Protocol V1.1b3, 6.18).
 */
export function addressRanges(pdu: Uint8Array): AddressRange[] {
  const range = { address: wordAt(pdu, 1), quantity: wordAt(pdu, 3) };
  switch (pdu[0]) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs:
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters:
    case FunctionCode.writeMultipleCoils:
    case FunctionCode.writeMultipleRegisters:
      return [range];
    case FunctionCode.writeSingleCoil:
    case FunctionCode.writeSingleRegister:
    case FunctionCode.maskWriteRegister:
    case FunctionCode.readFifoQueue:
      return [{ ...range, quantity: 1 }];
    case FunctionCode.readWriteMultipleRegisters:
      return [range, { address: wordAt(pdu, 5), quantity: wordAt(pdu, 7) }];
    default:
      return [];
  }
}
