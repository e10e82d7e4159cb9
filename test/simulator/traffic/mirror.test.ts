import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RTU } from '../../../src/modbus/protocol/framing.js';
import type { NewEvent, TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { EventBlock } from '../../../src/simulator/traffic/kept-events.js';
import { TrafficMirror } from '../../../src/simulator/traffic/mirror.js';
import { TrafficCursor } from '../../../src/simulator/traffic/reading.js';
import { type StreamChange, TrafficStream } from '../../../src/simulator/traffic/stream.js';

/** A stream, its mirror, and the messages between them that have not arrived yet. */
function mirrored(events: number, bytes: number) {
  const stream = new TrafficStream({ events, bytes }, () => 0);
  const toMirror: StreamChange[] = [];
  const feed = stream.feed((change) => toMirror.push(change));
  const mirror = new TrafficMirror(events);
  const taken = new Set<SharedArrayBuffer>();
  const arrive = () => {
    for (const change of toMirror.splice(0)) {
      if (change.kind === 'block') taken.add(change.memory);
      mirror.take(change);
    }
  };
  return { stream, mirror, arrive, feed, taken };
}

/** A frame of some bytes, of which a block of 512 KiB holds between five and many thousand. */
function frame(at: number, length: number): NewEvent {
  const bytes = new Uint8Array(length).fill(at & 0xff);
  return {
    ...{ kind: 'request', at, bytes, framing: RTU, startedAt: at - 1, pause: 3, characterTime: 1 },
    ...{ unitId: 1, functionCode: 3, answers: undefined, client: undefined, clientId: 0 },
  };
}

/** What tells one event from another, without comparing many bytes. */
function inShort(event: TrafficEvent | undefined): string {
  if (event?.kind !== 'request') return `${event?.kind}`;
  const { seq, line, at, bytes } = event;
  return `${seq} ${line} ${at}: ${bytes.length} bytes, ${bytes[0]} to ${bytes.at(-1)}`;
}

function reading(kept: TrafficStream | TrafficMirror): string[] {
  const all: string[] = [];
  for (let seq = kept.first; seq <= kept.last; seq++) all.push(inShort(kept.read(seq)));
  return all;
}

const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add'), count: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('arrive') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('line') }) },
) as fc.Arbitrary<{ kind: 'add'; count: number } | { kind: 'arrive' | 'clear' | 'line' }>;

it('a mirror shows what its stream keeps, and what it shows late was once so', () => {
  fc.assert(
    fc.property(
      fc.array(act, { maxLength: 60 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(10, 20_000, 120_000),
      (acts, events, blocks, length) => {
        const { stream, mirror, arrive } = mirrored(events, blocks * 512 * 1024);
        const ever = new Set<string>();
        let line = stream.lineNumber('first');
        arrive();
        for (const each of acts) {
          if (each.kind === 'add') {
            for (let i = 0; i < each.count; i++) {
              const seq = stream.add(line, frame(stream.last + 1, length));
              ever.add(inShort(stream.read(seq)));
            }
          } else if (each.kind === 'arrive') arrive();
          else if (each.kind === 'clear') stream.clear();
          else line = stream.lineNumber(`line ${stream.last}`);
          // Before the messages have arrived: nothing that is half written or overwritten.
          for (const event of reading(mirror)) if (!ever.has(event)) throw new Error(`never there: ${event}`);
        }
        arrive();
        expect([mirror.first, mirror.last]).toEqual([stream.first, stream.last]);
        expect(mirror.lineNames).toEqual(stream.lineNames);
        expect(reading(mirror)).toEqual(reading(stream));
      },
    ),
    { numRuns: 60 },
  );
});

it('a mirror sees an event as soon as it is there, without a message', () => {
  const { stream, mirror, arrive } = mirrored(100, 1e7);
  const line = stream.lineNumber('bench');
  stream.add(line, frame(1, 10));
  arrive();
  stream.add(line, frame(2, 10));
  expect(mirror.last).toBe(2);
  expect(mirror.read(2)).toEqual(stream.read(2));
});

it('a stream takes no more memory than it may, however late its mirror hears of what was given up', () => {
  const { stream, mirror, arrive, taken } = mirrored(1000, 4 * 512 * 1024);
  const line = stream.lineNumber('bench');
  stream.add(line, frame(1, 400_000));
  arrive();
  const before = inShort(mirror.read(1));
  for (let at = 2; at <= 4; at++) stream.add(line, frame(at, 400_000));
  expect(inShort(mirror.read(1))).toBe(before);
  for (let at = 5; at <= 100; at++) stream.add(line, frame(at, 400_000));
  expect(mirror.read(1)).toBeUndefined();
  arrive();
  expect(taken.size).toBe(4);
  expect([mirror.first, mirror.last]).toEqual([97, 100]);
  expect(reading(mirror)).toEqual(reading(stream));
});

it('what is forgotten again and again takes no new memory', () => {
  const { stream, arrive, taken } = mirrored(1000, 4 * 512 * 1024);
  const line = stream.lineNumber('bench');
  for (let at = 1; at <= 100; at++) {
    stream.add(line, frame(at, 400_000));
    if (at % 3 === 0) stream.clear();
  }
  arrive();
  expect(taken.size).toBeLessThanOrEqual(4);
});

it('events that are given up before a reader has heard of it are counted as missed', () => {
  const { stream, mirror, arrive } = mirrored(1000, 4 * 512 * 1024);
  const line = stream.lineNumber('bench');
  for (let at = 1; at <= 4; at++) stream.add(line, frame(at, 400_000));
  arrive();
  const cursor = new TrafficCursor(mirror, {}, 0);
  const events = cursor.events();
  expect(inShort(events.next().value)).toContain('1 bench 1');
  for (let at = 5; at <= 6; at++) stream.add(line, frame(at, 400_000));
  arrive();
  expect([...events].map(inShort)).toEqual([3, 4].map((seq) => inShort(stream.read(seq))));
  expect(cursor.missed).toBe(1);
});

it('memory that a reader holds is not used again, and a reader of used memory gets nothing', () => {
  const memory = new SharedArrayBuffer(1024);
  const block = new EventBlock(memory, 1, EventBlock.begin(memory) ?? 0);
  expect(block.hold()).toBe(true);
  expect(EventBlock.begin(memory)).toBeUndefined();
  block.letGo();
  expect(EventBlock.begin(memory)).toBeGreaterThan(block.use);
  expect([block.hold(), block.isKept]).toEqual([false, false]);
  // Who has got nothing holds nothing.
  expect(EventBlock.begin(memory)).toBeDefined();
});

it('the next mirror begins with what is kept, and the one before hears nothing more', () => {
  const { stream, mirror, arrive, feed } = mirrored(1000, 1e7);
  const line = stream.lineNumber('bench');
  stream.add(line, frame(1, 10));
  arrive();
  const next = new TrafficMirror(1000);
  stream.feed((change) => next.take(change));
  feed.end();
  stream.clear();
  stream.add(line, frame(2, 10));
  arrive();
  expect([next.first, next.last]).toEqual([2, 2]);
  expect(reading(next)).toEqual(reading(stream));
  expect(mirror.last).toBe(1);
});

describe('the next event', () => {
  const stateOf = (promise: Promise<void>) =>
    Promise.race([promise.then(() => 'there'), new Promise((resolve) => setImmediate(resolve, 'awaited'))]);
  const LONG = 300_000;

  it.each(['in the same block', 'in a new block', 'after everything was forgotten', 'the first of all'])(
    'is told to who waits for it: %s',
    async (where) => {
      const { stream, mirror, arrive } = mirrored(100, 4 * 2 ** 20);
      const line = stream.lineNumber('bus');
      if (where !== 'the first of all') stream.add(line, frame(1, where === 'in a new block' ? LONG : 8));
      if (where === 'after everything was forgotten') stream.clear();
      arrive();
      const { last } = mirror;
      const waiting = mirror.next(last);
      expect(await stateOf(waiting)).toBe('awaited');
      stream.add(line, frame(2, where === 'in a new block' ? LONG : 8));
      arrive();
      expect(await stateOf(waiting)).toBe('there');
      expect(mirror.last).toBe(last + 1);
    },
  );

  it('is told once, and to nobody who does not wait', async () => {
    const messages: string[] = [];
    const stream = new TrafficStream({ events: 100, bytes: 2 ** 20 }, () => 0);
    const mirror = new TrafficMirror(100);
    stream.feed((change) => {
      messages.push(change.kind);
      mirror.take(change);
    });
    const line = stream.lineNumber('bus');
    const add = () => stream.add(line, frame(1, 8));
    add();
    add();
    expect(await stateOf(mirror.next(1))).toBe('there');
    const told = () => messages.filter((kind) => kind === 'event').length;
    add();
    const before = told();
    const waiting = [mirror.next(3), mirror.next(3)];
    await Promise.resolve();
    add();
    add();
    expect(await stateOf(Promise.all(waiting).then(() => {}))).toBe('there');
    expect(told()).toBe(before + 1);
  });

  it('is told by the stream itself, too', async () => {
    const stream = new TrafficStream({ events: 100, bytes: 2 ** 20 }, () => 0);
    const line = stream.lineNumber('bus');
    const waiting = stream.next(0);
    expect(await stateOf(waiting)).toBe('awaited');
    stream.add(line, frame(1, 8));
    expect(await stateOf(waiting)).toBe('there');
    expect(await stateOf(stream.next(0))).toBe('there');
  });
});
