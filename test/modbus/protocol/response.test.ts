import { describe, expect, it } from 'vitest';
import {
  bitsResponse,
  echoResponse,
  exceptionResponse,
  wordsResponse,
} from '../../../src/modbus/protocol/pdu.js';
import { bytesOf, hexOf } from './hex.js';

describe('encoding a response', () => {
  it('fills a PDU with the most that can be read', () => {
    expect(bitsResponse(1, Array<boolean>(2000).fill(true))).toHaveLength(252);
    expect(hexOf(bitsResponse(1, Array<boolean>(2000).fill(true)).slice(0, 3))).toBe('01faff');
    expect(wordsResponse(3, Array<number>(125).fill(1))).toHaveLength(252);
    expect(hexOf(wordsResponse(3, Array<number>(125).fill(1)).slice(0, 4))).toBe('03fa0001');
  });

  it('pads the last byte of bits with 0', () => {
    expect(hexOf(bitsResponse(2, Array<boolean>(9).fill(true)))).toBe('0202ff01');
  });

  it('echoes the head of a request', () => {
    expect(hexOf(echoResponse(bytesOf('10 0001 0002 04 000A 0102')))).toBe('1000010002');
  });

  it('sets the exception flag of every function code and never clears it', () => {
    for (let code = 0; code < 256; code++) {
      const response = exceptionResponse(code, 1);
      expect(response).toHaveLength(2);
      expect(response[0]).toBe(code < 128 ? code + 128 : code);
    }
  });
});
