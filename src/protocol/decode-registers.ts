import { bitsAt, wordAt, wordsAt } from './bytes.js';
import { ExceptionCode } from './exception-code.js';
import { FunctionCode } from './function-code.js';
import {
  MAX_BITS_WRITTEN,
  MAX_REGISTERS_READ,
  MAX_REGISTERS_WRITTEN,
  MAX_REGISTERS_WRITTEN_BY_READ_WRITE,
} from './limits.js';
import { type DecodedRequest, type ReadRequest, refused, valid } from './request.js';

const COIL_ON = 0xff00;
const COIL_OFF = 0x0000;

const ILLEGAL_VALUE = refused(ExceptionCode.illegalDataValue);

function inLimits(quantity: number, max: number): boolean {
  return quantity >= 1 && quantity <= max;
}

/** Functions 1 to 4 (6.1 to 6.4). */
export function decodeRead(code: ReadRequest['code'], max: number) {
  return (pdu: Uint8Array): DecodedRequest => {
    const quantity = wordAt(pdu, 3);
    if (pdu.length !== 5 || !inLimits(quantity, max)) return ILLEGAL_VALUE;
    return valid({ code, address: wordAt(pdu, 1), quantity });
  };
}

/** Function 5 (6.5). */
export function decodeWriteSingleCoil(pdu: Uint8Array): DecodedRequest {
  const value = wordAt(pdu, 3);
  if (pdu.length !== 5 || (value !== COIL_ON && value !== COIL_OFF)) return ILLEGAL_VALUE;
  return valid({ code: FunctionCode.writeSingleCoil, address: wordAt(pdu, 1), on: value === COIL_ON });
}

/** Function 15 (6.11). */
export function decodeWriteMultipleCoils(pdu: Uint8Array): DecodedRequest {
  const quantity = wordAt(pdu, 3);
  const byteCount = (quantity + 7) >>> 3;
  if (!inLimits(quantity, MAX_BITS_WRITTEN) || pdu[5] !== byteCount || pdu.length !== 6 + byteCount) {
    return ILLEGAL_VALUE;
  }
  return valid({
    code: FunctionCode.writeMultipleCoils,
    address: wordAt(pdu, 1),
    bits: bitsAt(pdu, 6, quantity),
  });
}

/** Function 16 (6.12). */
export function decodeWriteMultipleRegisters(pdu: Uint8Array): DecodedRequest {
  const quantity = wordAt(pdu, 3);
  const byteCount = 2 * quantity;
  if (!inLimits(quantity, MAX_REGISTERS_WRITTEN) || pdu[5] !== byteCount || pdu.length !== 6 + byteCount) {
    return ILLEGAL_VALUE;
  }
  return valid({
    code: FunctionCode.writeMultipleRegisters,
    address: wordAt(pdu, 1),
    words: wordsAt(pdu, 6, quantity),
  });
}

/** Function 23 (6.17). */
export function decodeReadWriteMultipleRegisters(pdu: Uint8Array): DecodedRequest {
  const readQuantity = wordAt(pdu, 3);
  const writeQuantity = wordAt(pdu, 7);
  const byteCount = 2 * writeQuantity;
  const quantitiesFit =
    inLimits(readQuantity, MAX_REGISTERS_READ) &&
    inLimits(writeQuantity, MAX_REGISTERS_WRITTEN_BY_READ_WRITE);
  if (!quantitiesFit || pdu[9] !== byteCount || pdu.length !== 10 + byteCount) return ILLEGAL_VALUE;
  return valid({
    code: FunctionCode.readWriteMultipleRegisters,
    readAddress: wordAt(pdu, 1),
    readQuantity,
    writeAddress: wordAt(pdu, 5),
    words: wordsAt(pdu, 10, writeQuantity),
  });
}

/** Function 6 (6.6). */
export function decodeWriteSingleRegister(pdu: Uint8Array): DecodedRequest {
  return pdu.length === 5
    ? valid({ code: FunctionCode.writeSingleRegister, address: wordAt(pdu, 1), value: wordAt(pdu, 3) })
    : ILLEGAL_VALUE;
}

/** Function 22 (6.16). */
export function decodeMaskWriteRegister(pdu: Uint8Array): DecodedRequest {
  if (pdu.length !== 7) return ILLEGAL_VALUE;
  return valid({
    code: FunctionCode.maskWriteRegister,
    address: wordAt(pdu, 1),
    andMask: wordAt(pdu, 3),
    orMask: wordAt(pdu, 5),
  });
}
