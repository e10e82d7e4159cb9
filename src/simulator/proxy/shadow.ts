import type { Tables } from '../../device/tables.js';
import { bitsAt, wordsAt } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../modbus/protocol/function-code.js';
import { decodeRequest } from '../../modbus/protocol/request.js';

/**
 * Keeps what a real device has read or written in the registers that are defined for it, so that people see
 * its values by their names. Registers that are not defined are left out.
 * @param tables the tables as clients see them
 */
export function keepReply(tables: Tables, requestPdu: Uint8Array, responsePdu: Uint8Array): void {
  const decoded = decodeRequest(requestPdu);
  if (!decoded.ok || (responsePdu[0] as number) & EXCEPTION_FLAG) return;
  const { request } = decoded;
  const { coils, discrete, holding, input } = tables;
  switch (request.code) {
    case FunctionCode.readCoils:
      coils.follow(request.address, bitsAt(responsePdu, 2, request.quantity).map(Number), 'bits');
      break;
    case FunctionCode.readDiscreteInputs:
      discrete.follow(request.address, bitsAt(responsePdu, 2, request.quantity).map(Number), 'bits');
      break;
    case FunctionCode.readHoldingRegisters:
      holding.follow(request.address, wordsAt(responsePdu, 2, request.quantity), 'words');
      break;
    case FunctionCode.readInputRegisters:
      input.follow(request.address, wordsAt(responsePdu, 2, request.quantity), 'words');
      break;
    case FunctionCode.writeSingleCoil:
      coils.follow(request.address, [Number(request.on)], 'bits');
      break;
    case FunctionCode.writeMultipleCoils:
      coils.follow(request.address, request.bits.map(Number), 'bits');
      break;
    case FunctionCode.writeSingleRegister:
      holding.follow(request.address, [request.value], 'words');
      break;
    case FunctionCode.writeMultipleRegisters:
      holding.follow(request.address, request.words, 'words');
      break;
    case FunctionCode.maskWriteRegister: {
      const { address, andMask, orMask } = request;
      if (holding.defines(address, 'words'))
        holding.follow(address, [holding.maskedWord(address, andMask, orMask)], 'words');
      break;
    }
    case FunctionCode.readWriteMultipleRegisters:
      // The write comes before the read (Application Protocol V1.1b3, 6.17).
      holding.follow(request.writeAddress, request.words, 'words');
      holding.follow(request.readAddress, wordsAt(responsePdu, 2, request.readQuantity), 'words');
  }
}
