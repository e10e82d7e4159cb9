import { concatBytes, packBits, packWords, setWord } from '../../../src/modbus/protocol/bytes.js';
import type { FilePart, Request } from '../../../src/modbus/protocol/request.js';

/** The request PDU of `request`: the inverse of `decodeRequest`. */
export function encodeRequest(request: Request): Uint8Array {
  switch (request.code) {
    case 1:
    case 2:
    case 3:
    case 4:
      return head(request.code, request.address, request.quantity);
    case 5:
      return head(5, request.address, request.on ? 0xff00 : 0x0000);
    case 6:
      return head(6, request.address, request.value);
    case 7:
    case 11:
    case 12:
    case 17:
      return Uint8Array.of(request.code);
    case 8:
      return concatBytes(head(8, request.subFunction), request.data);
    case 15: {
      const data = packBits(request.bits);
      return concatBytes(head(15, request.address, request.bits.length), [data.length], data);
    }
    case 16: {
      const data = packWords(request.words);
      return concatBytes(head(16, request.address, request.words.length), [data.length], data);
    }
    case 20:
      return withByteCount(20, request.parts.map(partBytes));
    case 21:
      return withByteCount(
        21,
        request.parts.map((part) => concatBytes(partBytes(part), packWords(part.words))),
      );
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
    case 24:
      return head(24, request.address);
    case 43:
      return Uint8Array.of(43, 14, request.access, request.objectId);
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

function partBytes({ referenceType, file, record, length }: FilePart): Uint8Array {
  return concatBytes([referenceType], packWords([file, record, length]));
}

function withByteCount(code: number, parts: readonly Uint8Array[]): Uint8Array {
  const data = concatBytes(...parts);
  return concatBytes([code, data.length], data);
}
