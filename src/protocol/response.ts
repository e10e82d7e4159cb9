import { concatBytes, copyOf, newBytes, packBits, setWord } from './bytes.js';
import { EXCEPTION_FLAG } from './function-code.js';

/** Response PDU of functions 1 and 2: byte count and packed bits (6.1, 6.2). */
export function bitsResponse(code: number, bits: readonly boolean[]): Uint8Array {
  const data = packBits(bits);
  return concatBytes([code, data.length], data);
}

/** Response PDU of functions 3, 4 and 23: byte count and words (6.3, 6.4, 6.17). */
export function wordsResponse(code: number, words: readonly number[]): Uint8Array {
  const pdu = newBytes(2 + 2 * words.length);
  pdu[0] = code;
  pdu[1] = 2 * words.length;
  for (let i = 0; i < words.length; i++) setWord(pdu, 2 + 2 * i, words[i] as number);
  return pdu;
}

/** Response PDU of the functions that answer with the beginning of the request: 5, 6, 22 whole, 15 and 16 five bytes. */
export function echoResponse(requestPdu: Uint8Array, length: number): Uint8Array {
  return copyOf(requestPdu, 0, length);
}

/** Exception response PDU (7). The flag is set, never toggled, so that no wrong function code turns into a success. */
export function exceptionResponse(functionCode: number, exception: number): Uint8Array {
  return Uint8Array.of((functionCode | EXCEPTION_FLAG) & 0xff, exception);
}
