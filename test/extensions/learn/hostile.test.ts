import { describe, expect, it } from 'vitest';
import { conversationOf } from '../../../src/extensions/learn/exchanges.js';
import { wholeFrames } from '../../../src/extensions/learn/frames.js';
import { readLog } from '../../../src/extensions/learn/log-lines.js';
import type { LoggedBytes } from '../../../src/extensions/learn/logged-bytes.js';
import { RTU } from '../../../src/modbus/protocol/framing.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { bytesOf } from '../../modbus/protocol/hex.js';

/* Logs on which a reader that looks at a part of them again and again takes minutes; each is read in a second or so. */

const line = (
  number: number,
  direction: LoggedBytes['direction'],
  bytes: Uint8Array,
  words = '',
): LoggedBytes => ({
  ...{ line: number, at: undefined, direction, bytes, words, text: `${direction ?? ''} ${number}` },
});
const REQUEST = encodeRtu(1, bytesOf('03 0000 0001'));
const REPLY = encodeRtu(1, bytesOf('03 02 0007'));
const PIECE = bytesOf('01 03');
const OTHER = encodeRtu(1, bytesOf('03 02 0008'));

describe('a hostile log', () => {
  it('may have 200,000 pieces of frames without a direction, each behind other words', () => {
    const pieces = Array.from({ length: 200_000 }, (_, i) => line(i + 1, undefined, PIECE, `word ${i}`));
    expect(wholeFrames(pieces, RTU)).toHaveLength(200_000);
  });

  it('may have pieces of a frame with many other lines between', () => {
    const between = Array.from({ length: 1000 }, (_, i) => line(i + 2, undefined, PIECE, `word ${i}`));
    const [begin, end] = [REQUEST.subarray(0, 4), REQUEST.subarray(4)];
    const frames = wholeFrames([line(1, undefined, begin), ...between, line(1002, undefined, end)], RTU);
    expect(frames.at(-1)?.bytes).toEqual(REQUEST);
  });

  it('may have a reply of 100,000 pieces, and 40,000 lines that explain nothing of it', () => {
    const { exchanges, unlearned, strays, notes } = conversationOf([
      line(1, 'out', REQUEST),
      ...Array.from({ length: 100_000 }, (_, i) => line(i + 2, 'in', REPLY)),
      ...Array.from({ length: 40_000 }, (_, i) => line(i + 100_002, undefined, OTHER)),
      line(140_002, 'out', REQUEST),
      line(140_003, 'in', REPLY),
    ]);
    expect(exchanges).toMatchObject([{ line: 140_002, reply: REPLY }]);
    expect(unlearned).toMatchObject([{ line: 1 }]);
    expect(strays).toBe(139_936);
    expect(notes).toEqual([
      '40000 lines with bytes left out, without a direction: line 100002, 100003, 100004, 100005, 100006, … (100002)',
      '1 line with bytes left out, with a reply of more than 64 pieces: line 1 (out 1)',
    ]);
  });

  it('may have 1000 long lines that each end with a part of a frame', () => {
    const long = `01 ${'z'.repeat(7900)} 01 03 00 00 0`;
    const { frames } = readLog(Array.from({ length: 1000 }, () => long).join('\n'));
    expect(frames).toHaveLength(1000);
  });
});
