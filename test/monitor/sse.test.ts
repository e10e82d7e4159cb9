import { describe, expect, it } from 'vitest';
import { SseParser } from '../../src/monitor/sse.js';

const TEXT =
  'retry: 1000\nid: 7\n\nevent: traffic\ndata: [1,\ndata: 2]\nid: 9\n\n: nothing happened\nid: 9\n\nid: 10\ndata: cut';
const MESSAGES = [
  { id: '7', data: undefined },
  { id: '9', data: '[1,\n2]' },
  { id: '9', data: undefined },
];

describe('server-sent events', () => {
  it.each([1, 2, 7, 1000])('are the same messages in pieces of %d characters', (length) => {
    const parser = new SseParser();
    const found = [];
    for (let at = 0; at < TEXT.length; at += length) found.push(...parser.push(TEXT.slice(at, at + length)));
    expect(found).toEqual(MESSAGES);
  });
});
