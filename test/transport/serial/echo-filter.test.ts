import { describe, expect, it } from 'vitest';
import { encodeRtu } from '../../../src/protocol/rtu.js';
import { EchoFilter } from '../../../src/transport/serial/echo-filter.js';

const T35 = 2;
const LATENCY = 20;
/** When the reply is on the wire, after it was written at 0. */
const ENDS = 8;

/** A response that no client would send, and one that is the same bytes as its request. */
const READ = encodeRtu(17, Uint8Array.of(3, 4, 0, 1, 0, 2));
const WRITE = encodeRtu(17, Uint8Array.of(6, 0, 1, 0, 5));
const REQUEST = encodeRtu(17, Uint8Array.of(3, 0, 0, 0, 2));

const filterOn = (line: 'wire' | 'pty') =>
  new EchoFilter({ hasWire: line === 'wire', t35: T35, latency: LATENCY });
const passed = (filter: EchoFilter, bytes: Uint8Array, at: number) => [...filter.received(bytes, at).bytes];

describe('an adapter that hears what it sends', () => {
  it.each(['wire', 'pty'] as const)('is noticed by a reply that can be no request, on a %s', (line) => {
    const filter = filterOn(line);
    filter.sent(READ, ENDS);
    expect(filter.received(READ, 3)).toEqual({ bytes: new Uint8Array(0), noticed: 'echo' });
    filter.sent(WRITE, 108);
    expect(filter.received(WRITE, 115)).toEqual({ bytes: new Uint8Array(0), noticed: undefined });
  });

  it('is noticed byte by byte too', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    for (const [i, byte] of READ.entries()) expect(passed(filter, Uint8Array.of(byte), i)).toEqual([]);
    expect(passed(filter, REQUEST, 50)).toEqual([...REQUEST]);
  });

  it('is noticed when the copy of a write comes before anybody else may speak', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS);
    expect(filter.received(WRITE, ENDS + 1).noticed).toBe('echo');
  });

  it('passes on what follows its echo in the same chunk', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    expect(passed(filter, Uint8Array.of(...READ, ...REQUEST), 12)).toEqual([...REQUEST]);
  });

  it('never makes the simulator execute its own reply, even while nothing is known', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS);
    expect(passed(filter, WRITE, ENDS + 10)).toEqual([]);
  });
});

describe('an adapter without echo', () => {
  it('loses no byte of a request that begins like the reply', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    expect(passed(filter, REQUEST.subarray(0, 2), 15)).toEqual([]);
    expect(passed(filter, REQUEST.subarray(2), 16)).toEqual([...REQUEST]);
  });

  it('gives back what began like an echo and did not go on', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    expect(passed(filter, READ.subarray(0, 3), 15)).toEqual([]);
    expect([...filter.silence()]).toEqual([...READ.subarray(0, 3)]);
  });

  it('is known after one reply that did not come back: the same write again is a request', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    passed(filter, Uint8Array.of(5), 20);
    filter.sent(WRITE, 108);
    expect(passed(filter, WRITE, 112)).toEqual([...WRITE]);
  });

  it('is known after a reply that was followed by silence', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS);
    expect(passed(filter, WRITE, ENDS + T35 + LATENCY + 1)).toEqual([...WRITE]);
  });

  it('lets a client on a pseudo-terminal repeat a write at once', () => {
    const filter = filterOn('pty');
    for (let i = 0; i < 5; i++) {
      filter.sent(WRITE, 10 * i);
      expect(passed(filter, WRITE, 10 * i + 0.1)).toEqual([...WRITE]);
    }
  });
});

describe('a collision', () => {
  it('is noticed when other bytes than ours come back while we send', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS);
    expect(passed(filter, READ.subarray(0, 2), 2)).toEqual([]);
    expect(filter.received(Uint8Array.of(0xff, 0xff), 3).noticed).toBe('collision');
  });
});
