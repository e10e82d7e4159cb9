import { bitsAt, concatBytes, packBits, packWords, setWord, wordAt, wordsAt } from './bytes.js';
import { ExceptionCode } from './exception-code.js';
import { FunctionCode } from './function-code.js';
import {
  MAX_BITS_READ,
  MAX_BITS_WRITTEN,
  MAX_REGISTERS_READ,
  MAX_REGISTERS_WRITTEN,
  MAX_REGISTERS_WRITTEN_BY_READ_WRITE,
} from './limits.js';

/** What a client asks for, decoded. Addresses are 0-based, as on the wire. */
export type Request =
  | { readonly code: 1 | 2; readonly address: number; readonly quantity: number }
  | { readonly code: 3 | 4; readonly address: number; readonly quantity: number }
  | { readonly code: 5; readonly address: number; readonly on: boolean }
  | { readonly code: 6; readonly address: number; readonly value: number }
  | { readonly code: 15; readonly address: number; readonly bits: readonly boolean[] }
  | { readonly code: 16; readonly address: number; readonly words: readonly number[] }
  | { readonly code: 22; readonly address: number; readonly andMask: number; readonly orMask: number }
  | {
      readonly code: 23;
      readonly readAddress: number;
      readonly readQuantity: number;
      readonly writeAddress: number;
      readonly words: readonly number[];
    };

export type DecodedRequest =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly exception: ExceptionCode };

const COIL_ON = 0xff00;
const COIL_OFF = 0x0000;

/**
 * Decodes a request PDU up to the address: the first two decisions of every state diagram in
 * Application Protocol V1.1b3, 6: function code known (else 01), then quantity, byte count and value (else 03).
 * A PDU too short or too long for its function counts as a wrong byte count. Addresses are for the device to judge.
 */
export function decodeRequest(pdu: Uint8Array): DecodedRequest {
  switch (pdu[0]) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs:
      return decodeRead(pdu[0], pdu, MAX_BITS_READ);
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters:
      return decodeRead(pdu[0], pdu, MAX_REGISTERS_READ);
    case FunctionCode.writeSingleCoil:
      return decodeWriteSingleCoil(pdu);
    case FunctionCode.writeSingleRegister:
      return pdu.length === 5
        ? valid({ code: 6, address: wordAt(pdu, 1), value: wordAt(pdu, 3) })
        : ILLEGAL_VALUE;
    case FunctionCode.writeMultipleCoils:
      return decodeWriteMultipleCoils(pdu);
    case FunctionCode.writeMultipleRegisters:
      return decodeWriteMultipleRegisters(pdu);
    case FunctionCode.maskWriteRegister:
      return pdu.length === 7
        ? valid({ code: 22, address: wordAt(pdu, 1), andMask: wordAt(pdu, 3), orMask: wordAt(pdu, 5) })
        : ILLEGAL_VALUE;
    case FunctionCode.readWriteMultipleRegisters:
      return decodeReadWriteMultipleRegisters(pdu);
    default:
      return { ok: false, exception: ExceptionCode.illegalFunction };
  }
}

const ILLEGAL_VALUE: DecodedRequest = { ok: false, exception: ExceptionCode.illegalDataValue };

function valid(request: Request): DecodedRequest {
  return { ok: true, request };
}

function inLimits(quantity: number, max: number): boolean {
  return quantity >= 1 && quantity <= max;
}

function decodeRead(code: 1 | 2 | 3 | 4, pdu: Uint8Array, max: number): DecodedRequest {
  const quantity = wordAt(pdu, 3);
  if (pdu.length !== 5 || !inLimits(quantity, max)) return ILLEGAL_VALUE;
  return valid({ code, address: wordAt(pdu, 1), quantity });
}

function decodeWriteSingleCoil(pdu: Uint8Array): DecodedRequest {
  const value = wordAt(pdu, 3);
  if (pdu.length !== 5 || (value !== COIL_ON && value !== COIL_OFF)) return ILLEGAL_VALUE;
  return valid({ code: 5, address: wordAt(pdu, 1), on: value === COIL_ON });
}

function decodeWriteMultipleCoils(pdu: Uint8Array): DecodedRequest {
  const quantity = wordAt(pdu, 3);
  const byteCount = (quantity + 7) >>> 3;
  if (!inLimits(quantity, MAX_BITS_WRITTEN) || pdu[5] !== byteCount || pdu.length !== 6 + byteCount) {
    return ILLEGAL_VALUE;
  }
  return valid({ code: 15, address: wordAt(pdu, 1), bits: bitsAt(pdu, 6, quantity) });
}

function decodeWriteMultipleRegisters(pdu: Uint8Array): DecodedRequest {
  const quantity = wordAt(pdu, 3);
  const byteCount = 2 * quantity;
  if (!inLimits(quantity, MAX_REGISTERS_WRITTEN) || pdu[5] !== byteCount || pdu.length !== 6 + byteCount) {
    return ILLEGAL_VALUE;
  }
  return valid({ code: 16, address: wordAt(pdu, 1), words: wordsAt(pdu, 6, quantity) });
}

function decodeReadWriteMultipleRegisters(pdu: Uint8Array): DecodedRequest {
  const readQuantity = wordAt(pdu, 3);
  const writeQuantity = wordAt(pdu, 7);
  const byteCount = 2 * writeQuantity;
  const quantitiesFit =
    inLimits(readQuantity, MAX_REGISTERS_READ) &&
    inLimits(writeQuantity, MAX_REGISTERS_WRITTEN_BY_READ_WRITE);
  if (!quantitiesFit || pdu[9] !== byteCount || pdu.length !== 10 + byteCount) return ILLEGAL_VALUE;
  return valid({
    code: 23,
    readAddress: wordAt(pdu, 1),
    readQuantity,
    writeAddress: wordAt(pdu, 5),
    words: wordsAt(pdu, 10, writeQuantity),
  });
}

/** The request PDU of `request`: the inverse of {@link decodeRequest}. */
export function encodeRequest(request: Request): Uint8Array {
  switch (request.code) {
    case 1:
    case 2:
    case 3:
    case 4:
      return head(request.code, request.address, request.quantity);
    case 5:
      return head(5, request.address, request.on ? COIL_ON : COIL_OFF);
    case 6:
      return head(6, request.address, request.value);
    case 15: {
      const data = packBits(request.bits);
      return concatBytes(head(15, request.address, request.bits.length), [data.length], data);
    }
    case 16: {
      const data = packWords(request.words);
      return concatBytes(head(16, request.address, request.words.length), [data.length], data);
    }
    case 22:
      return head(22, request.address, request.andMask, request.orMask);
    case 23: {
      const data = packWords(request.words);
      const { readAddress, readQuantity, writeAddress, words } = request;
      return concatBytes(
        head(23, readAddress, readQuantity, writeAddress, words.length),
        [data.length],
        data,
      );
    }
  }
}

function head(code: number, ...words: number[]): Uint8Array {
  const pdu = new Uint8Array(1 + 2 * words.length);
  pdu[0] = code;
  words.forEach((word, i) => {
    setWord(pdu, 1 + 2 * i, word);
  });
  return pdu;
}
