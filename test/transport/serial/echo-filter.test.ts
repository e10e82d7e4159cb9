import { describe, expect, it } from 'vitest';
import { plainReply } from '../../../src/protocol/reply-plan.js';
import { encodeRtu, mayBeRequest } from '../../../src/protocol/rtu.js';
import { EchoFilter } from '../../../src/transport/serial/echo-filter.js';

const T35 = 2;
const LATENCY = 20;
/** When the reply is on the wire, after it was written at 0. */
const ENDS = 8;

/** A response that no client would send, and one that is the same bytes as its request. */
const READ = encodeRtu(17, Uint8Array.of(3, 4, 0, 1, 0, 2));
const WRITE = encodeRtu(17, Uint8Array.of(6, 0, 1, 0, 5));
const REQUEST = encodeRtu(17, Uint8Array.of(3, 0, 0, 0, 2));

/** A frame in one piece. */
const WHOLE = { continues: false, more: false };

const filterOn = (line: 'wire' | 'pty') =>
  new EchoFilter({
    hasWire: line === 'wire',
    mayProbe: line === 'pty',
    mayBeRequest,
    shortestFrame: 4,
    t35: T35,
    latency: LATENCY,
  });
const passed = (filter: EchoFilter, bytes: Uint8Array, at: number) => [...filter.received(bytes, at).bytes];

describe('an adapter that hears what it sends', () => {
  it.each(['wire', 'pty'] as const)('is noticed by a reply that can be no request, on a %s', (line) => {
    const filter = filterOn(line);
    filter.sent(READ, ENDS, WHOLE);
    expect(filter.received(READ, 3)).toEqual({ bytes: new Uint8Array(0), noticed: 'echo' });
    filter.sent(WRITE, 108, WHOLE);
    expect(filter.received(WRITE, 115)).toEqual({ bytes: new Uint8Array(0), noticed: undefined });
  });

  it('is noticed byte by byte too', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    for (const [i, byte] of READ.entries()) expect(passed(filter, Uint8Array.of(byte), i)).toEqual([]);
    expect(passed(filter, REQUEST, 50)).toEqual([...REQUEST]);
  });

  it('is noticed when the copy of a write comes before anybody else may speak', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS, WHOLE);
    expect(filter.received(WRITE, ENDS + 1).noticed).toBe('echo');
  });

  it('passes on what follows its echo in the same chunk', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, Uint8Array.of(...READ, ...REQUEST), 12)).toEqual([...REQUEST]);
  });

  it('never makes the simulator execute its own reply, even while nothing is known', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS, WHOLE);
    expect(passed(filter, WRITE, ENDS + 10)).toEqual([]);
  });
});

describe('an adapter that was heard to echo', () => {
  it('never makes the simulator execute a reply that comes back late, after a stall', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    filter.received(READ, ENDS);
    filter.sent(WRITE, 108, WHOLE);
    expect(passed(filter, WRITE.subarray(0, 4), 900)).toEqual([]);
    expect(passed(filter, WRITE.subarray(4), 901)).toEqual([]);
  });
});

describe('an adapter without echo', () => {
  it('loses no byte of a request that begins like the reply', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, REQUEST.subarray(0, 2), 15)).toEqual([]);
    expect(passed(filter, REQUEST.subarray(2), 16)).toEqual([...REQUEST]);
  });

  it('gives back what began like an echo and did not go on', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, READ.subarray(0, 3), 15)).toEqual([]);
    expect([...filter.silence().bytes]).toEqual([...READ.subarray(0, 3)]);
  });

  it('is known after one reply that did not come back: the same write again is a request', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    passed(filter, REQUEST, 20);
    filter.sent(WRITE, 108, WHOLE);
    expect(passed(filter, WRITE, 112)).toEqual([...WRITE]);
  });

  it('is known after a reply that was followed by silence', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS, WHOLE);
    expect(passed(filter, WRITE, ENDS + T35 + LATENCY + 1)).toEqual([...WRITE]);
  });

  it('lets a client on a pseudo-terminal repeat a write at once', () => {
    const filter = filterOn('pty');
    for (let i = 0; i < 5; i++) {
      filter.sent(WRITE, 10 * i, WHOLE);
      expect(passed(filter, WRITE, 10 * i + 0.1)).toEqual([...WRITE]);
    }
  });
});

describe('a collision', () => {
  it('is noticed when other bytes than ours come back while we send', () => {
    const filter = filterOn('wire');
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, READ.subarray(0, 2), 2)).toEqual([]);
    expect(filter.received(Uint8Array.of(0xff, 0xff), 3).noticed).toBe('collision');
  });

  it('is noticed once for each reply on a line without echo', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS, WHOLE);
    filter.received(REQUEST, 1000);
    filter.sent(READ, 1020, WHOLE);
    expect(filter.received(REQUEST, 1015)).toEqual({ bytes: REQUEST, noticed: 'collision' });
    expect(filter.received(REQUEST, 1016).noticed).toBeUndefined();
    filter.sent(READ, 2020, WHOLE);
    expect(filter.received(REQUEST, 2021).noticed).toBeUndefined();
  });
});

/**
 * A write to a simulator that hears itself: how often it is executed. `echo` is what comes back of a reply, with the
 * delay in ms after the reply was on the wire.
 */
function executions(
  line: 'wire' | 'pty',
  pieces: readonly Uint8Array[],
  echo: (piece: Uint8Array, reply: number) => { readonly bytes: Uint8Array; readonly after: number },
): number {
  const filter = filterOn(line);
  let at = 0;
  let executed = 1;
  for (let reply = 0; reply < 20 && executed > reply; reply++) {
    const plan = filter.probe(plainReply(WRITE));
    const steps = plan.kind === 'send' ? plan.steps : [];
    const sent =
      steps.length > 1 ? steps.flatMap((step) => (step.kind === 'bytes' ? [step.bytes] : [])) : pieces;
    let heard: number[] = [];
    sent.forEach((piece, i) => {
      at += ENDS;
      filter.sent(piece, at, {
        continues: i > 0 && sent[i] !== WRITE,
        more: i + 1 < sent.length && sent[i + 1] !== WRITE,
      });
      const { bytes, after } = echo(piece, reply);
      at += after;
      heard = [...heard, ...passed(filter, bytes, at)];
    });
    heard = [...heard, ...filter.silence().bytes];
    at += 100;
    if (heard.length >= WRITE.length) executed++;
  }
  return executed;
}

const STRAY = Uint8Array.of(0);
const halves = [WRITE.subarray(0, 4), WRITE.subarray(4)];

describe.each(['wire', 'pty'] as const)('a write on a %s that echoes, with nothing known of it', (line) => {
  it.each([
    ['at once', [WRITE], (bytes: Uint8Array) => ({ bytes, after: 0.5 })],
    [
      'late, after a stall',
      [WRITE],
      (bytes: Uint8Array, reply: number) => ({ bytes, after: reply < 2 ? 60 : 10 }),
    ],
    [
      'late for a while',
      [WRITE],
      (bytes: Uint8Array, reply: number) => ({ bytes, after: reply < 4 ? 60 : 10 }),
    ],
    ['cut in two', halves, (bytes: Uint8Array) => ({ bytes, after: 0.5 })],
    ['twice', [WRITE, WRITE], (bytes: Uint8Array) => ({ bytes, after: 5 })],
  ])('is soon executed no more when it comes back %s', (_, pieces, echo) => {
    expect(executions(line, pieces, echo)).toBeLessThanOrEqual(8);
  });
});

it('a stray byte before the echo on a wire does not hide it', () => {
  const echo = (bytes: Uint8Array) => ({ bytes: Uint8Array.of(...STRAY, ...bytes), after: 10 });
  expect(executions('wire', [WRITE], echo)).toBe(1);
});

it('a client is not taken for an echo because its request begins like a reply that left byte by byte', () => {
  const filter = filterOn('wire');
  READ.forEach((byte, i) => {
    filter.sent(Uint8Array.of(byte), ENDS + i, { continues: i > 0, more: i + 1 < READ.length });
  });
  expect(passed(filter, REQUEST, 40)).toEqual([...REQUEST]);
});

/** How many of 50 equal writes to a line without echo are passed on, each `wait` ms after the reply to the one before. */
function repeatedWrites(wait: number, filter: EchoFilter): number {
  let at = 10_000;
  let executed = 0;
  for (let i = 0; i < 50; i++) {
    if (passed(filter, WRITE, at).length > 0) {
      executed++;
      at += ENDS;
      filter.sent(WRITE, at, WHOLE);
    }
    at += wait;
  }
  return executed;
}

describe('a client that writes the same value again and again, without echo', () => {
  it.each([30, 200, 1000])('is obeyed each time, every %i ms', (wait) => {
    expect(repeatedWrites(wait, filterOn('wire'))).toBe(50);
  });

  it.each([1, 5, 30])('is obeyed each time on a pseudo-terminal, every %i ms', (wait) => {
    expect(repeatedWrites(wait, filterOn('pty'))).toBe(50);
  });
});

describe('an adapter that is slower than is known', () => {
  it('does not make a write be executed for ever', () => {
    const filter = filterOn('wire');
    let at = 0;
    let executed = 0;
    // Each execution is answered, and the answer comes back too late for the echo that is expected.
    while (executed < 1000 && passed(filter, WRITE, at).length > 0) {
      executed++;
      at += ENDS;
      filter.sent(WRITE, at, WHOLE);
      at += T35 + LATENCY + 15;
    }
    expect(executed).toBeLessThan(300);
  });
});

describe('a reply that leaves in pieces', () => {
  it.each([1, 2, 4])(
    'of which the first has %i bytes keeps no later write of the client from being executed',
    (cut) => {
      const filter = filterOn('wire');
      for (let i = 0; i < 4; i++) {
        const at = i * 1000;
        expect(passed(filter, WRITE, at)).toEqual([...WRITE]);
        filter.sent(WRITE.subarray(0, cut), at + 5, { continues: false, more: true });
        filter.sent(WRITE.subarray(cut), at + 10, { continues: true, more: false });
      }
    },
  );
});

describe('a line that goes on with other settings', () => {
  it('still knows the echo of what it sent before', () => {
    const filter = filterOn('wire');
    filter.sent(WRITE, ENDS, WHOLE);
    const { hasWire, mayProbe, shortestFrame } = { hasWire: true, mayProbe: false, shortestFrame: 4 };
    filter.change({ hasWire, mayProbe, mayBeRequest, shortestFrame, t35: T35, latency: LATENCY });
    expect(passed(filter, WRITE, ENDS + 3)).toEqual([]);
  });
});
