import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bitsAt,
  concatBytes,
  copyOf,
  hex,
  newBytes,
  packBits,
  packWords,
  putBytes,
  wordAt,
  wordsAt,
} from '../../../src/modbus/protocol/bytes.js';
import { byte, word } from './arbitrary-request.js';
import { bytesOf, hexOf } from './hex.js';

describe('words and bits in bytes', () => {
  it('puts the most significant byte of a word first', () => {
    expect(hexOf(packWords([0x0102, 0xfffe]))).toBe('0102fffe');
    expect(wordAt(bytesOf('00 8001'), 1)).toBe(0x8001);
  });

  it('puts the first bit into the least significant bit of the first byte and pads with 0', () => {
    const bits = [true, false, true, true, false, false, true, true, true, false];
    expect(hexOf(packBits(bits))).toBe('cd01');
    expect(hexOf(packBits([]))).toBe('');
  });

  it('gets back what it packed, at any offset', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean()),
        fc.array(word),
        fc.array(byte, { maxLength: 9 }),
        (bits, words, before) => {
          const packed = concatBytes(before, packBits(bits), packWords(words));
          const bytesOfBits = Math.ceil(bits.length / 8);
          expect(packed.length).toBe(before.length + bytesOfBits + 2 * words.length);
          expect(bitsAt(packed, before.length, bits.length)).toEqual(bits);
          expect(wordsAt(packed, before.length + bytesOfBits, words.length)).toEqual(words);
        },
      ),
    );
  });

  it('writes bytes as people read them', () => {
    expect(hex(bytesOf('01 03 00 0A FF'))).toBe('01 03 00 0a ff');
  });

  it('copies any number of bytes from any place', () => {
    const bytes = Buffer.from(Array.from({ length: 600 }, (_, i) => i & 0xff));
    for (const length of [0, 1, 12, 63, 64, 65, 259, 500]) {
      const copy = copyOf(bytes, 7, 7 + length);
      expect([...copy]).toEqual([...bytes.subarray(7, 7 + length)]);
      const target = new Uint8Array(600).fill(0xee);
      putBytes(target, 3, copy);
      expect([...target.subarray(3, 3 + length)]).toEqual([...copy]);
      expect([target[2], target[3 + length]]).toEqual([0xee, 0xee]);
    }
    const copy = copyOf(bytes);
    bytes.fill(0);
    expect(copy[600 - 1]).toBe(599 & 0xff);
  });

  it('gives new bytes that are zero and that nobody else has', () => {
    const many = [1, 64, 65, 260, 4096, 5000, 100].flatMap((length) =>
      Array.from({ length: 40 }, () => newBytes(length)),
    );
    many.forEach((bytes, i) => {
      expect(bytes.every((byte) => byte === 0)).toBe(true);
      bytes.fill(i & 0xff);
    });
    many.forEach((bytes, i) => {
      expect(bytes.every((byte) => byte === (i & 0xff))).toBe(true);
    });
  });
});
