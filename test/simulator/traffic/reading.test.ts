import { describe, expect, test } from 'vitest';
import { pageOf } from '../../../src/remote/web/views/traffic/recorded-page.js';
import { parseFilter } from '../../../src/simulator/filter/parse.js';
import type { NewEvent } from '../../../src/simulator/traffic/event.js';
import {
  beginningOfNewest,
  TrafficCursor,
  type TrafficFilter,
  wantedNewestFirst,
} from '../../../src/simulator/traffic/reading.js';
import { TrafficStream } from '../../../src/simulator/traffic/stream.js';
import { trafficView } from '../../../src/simulator/traffic/view.js';
import { adu, frameEvent, replyEvent } from './events.js';

const NONE: TrafficFilter = { wanted: { field: 'kind', texts: ['collision'] } };

/** A stream with `count` events of the kind `echo`. */
function streamOf(count: number, events = 100_000): TrafficStream {
  const stream = new TrafficStream({ events, bytes: 64 * 1024 * 1024 }, () => 0);
  addTo(stream, count);
  return stream;
}

function addTo(stream: TrafficStream, count: number, event?: NewEvent): void {
  const line = stream.lineNumber('bench');
  for (let i = 0; i < count; i++) stream.add(line, event ?? { kind: 'echo', at: i, count: 1, isRest: false });
}

const seqsOf = (events: Iterable<{ readonly seq: number } | undefined>) =>
  Array.from(events).flatMap((event) => event?.seq ?? []);

describe('a cursor', () => {
  test('reads forward, and goes on where it was', () => {
    const stream = streamOf(3);
    const cursor = new TrafficCursor(stream, {}, 0);
    expect(cursor.isAtEnd).toBe(false);
    expect(seqsOf(cursor.events())).toEqual([1, 2, 3]);
    expect(cursor.isAtEnd).toBe(true);
    addTo(stream, 2);
    expect(seqsOf(cursor.events())).toEqual([4, 5]);
    expect([cursor.after, cursor.missed]).toEqual([5, 0]);
  });

  test('can stop between any two events', () => {
    const cursor = new TrafficCursor(streamOf(5), {}, 0);
    for (const event of cursor.events()) if (event?.seq === 2) break;
    expect(cursor.after).toBe(2);
    expect(seqsOf(cursor.events())).toEqual([3, 4, 5]);
  });

  test('counts what the stream gives up before it is read, also while it reads', () => {
    const stream = streamOf(10, 10);
    const cursor = new TrafficCursor(stream, {}, 0);
    const events = cursor.events();
    expect(events.next().value?.seq).toBe(1);
    addTo(stream, 5);
    expect(events.next().value?.seq).toBe(6);
    expect(cursor.missed).toBe(4);
    stream.clear();
    expect(seqsOf(events)).toEqual([]);
    expect(cursor.after).toBe(stream.last);
    expect(cursor.missed).toBe(4 + 9);
  });

  test('at a number that is not reached begins with what is new', () => {
    const stream = streamOf(3);
    const cursor = new TrafficCursor(stream, {}, 1000);
    addTo(stream, 1);
    expect(seqsOf(cursor.events())).toEqual([4]);
  });
});

describe('a search that finds nothing in 100,000 events', () => {
  const stream = streamOf(100_000);

  test.each([
    ['forward', () => new TrafficCursor(stream, NONE, 0).events()],
    ['backward', () => wantedNewestFirst(stream, NONE)],
    ['for the newest', () => beginningOfNewest(stream, NONE, 10, stream.last)],
  ])('%s, lets its caller pause after each 64 events', (_, search) => {
    expect(Array.from(search()).length).toBeGreaterThanOrEqual(Math.floor(100_000 / 64));
  });
});

describe('the newest events', () => {
  test.each([
    [2, 8],
    [10, 0],
    [50, 0],
  ])('%i of 10 begin after %i', (count, after) => {
    const search = beginningOfNewest(streamOf(10), {}, count, 10);
    let step = search.next();
    while (!step.done) step = search.next();
    expect(step.value).toBe(after);
  });
});

describe('a filter', () => {
  const stream = new TrafficStream(undefined, () => 1_790_000_000_000);
  const line = stream.lineNumber('bench');
  const READ_10 = '03 000a 0002';
  const acted = [{ rule: 'slow', kind: 'delay' }];
  const { unitId: _unit, functionCode: _code, answers: _answers, ...received } = frameEvent(READ_10);
  const events: readonly NewEvent[] = [
    frameEvent(READ_10),
    replyEvent(READ_10, '03 04 0001 0002', { acted }),
    frameEvent(READ_10, { kind: 'foreign request', unitId: 9 }),
    frameEvent('83 02', { kind: 'foreign response', unitId: 9, answers: { seq: 3, after: 4 } }),
    frameEvent('17 0000 0001 0014 0001 02 0005'),
    { ...received, kind: 'damaged', isRest: false, bytes: adu(READ_10) },
    { kind: 'echo', at: 2000, count: 1, isRest: false },
  ];
  for (const event of events) stream.add(line, event);
  stream.add(stream.lineNumber('other'), { kind: 'echo', at: 2000, count: 1, isRest: false });

  test.each<[string, string, number[]]>([
    ['nothing asked for', '', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['a line', 'line=other', [8]],
    ['a unit', 'unit=9', [3, 4]],
    ['all but a unit', 'not unit=9', [1, 2, 5, 6, 7, 8]],
    ['a function, exceptions too', 'fc=3', [1, 2, 3, 4]],
    ['a function by a part of its name', 'fc=read/write', [5]],
    ['an address, of what is answered too', 'addr=11', [1, 2, 3, 4]],
    ['the address that function 23 writes', 'addr=20-24', [5]],
    ['a quantity', 'quantity=2', [1, 2, 3, 4]],
    ['a direction', 'direction=out', [2]],
    ['a rule', 'rule:slow', [2]],
    ['another rule', 'rule:fast', []],
    ['any rule', 'rule', [2]],
    ['an exception', 'exception', [4]],
    ['an exception by its code', 'exception=2', [4]],
    ['an exception by a part of its name', 'exception=busy', []],
    ['kinds', 'kind=damaged,echo', [6, 7, 8]],
    ['damage', 'damage', [6]],
    ['problems', 'problem', [2, 6]],
    ['what no rule has ordered', 'problem=unordered', [6]],
    ['a late answer', 'late>=4ms kind=foreign-response', [4]],
    ['a time', 'since=2026-09-21T14:13:22Z', [7, 8]],
    ['a time before', 'until=2026-09-21T14:13:21Z', [1, 3, 4, 5, 6]],
    ['bytes', 'bytes=000a0002', [1, 3, 6]],
    ['words', '"illegal data"', [4]],
    ['several things', 'unit=9 kind="foreign request"', [3]],
    ['one of two things', 'unit=9 or line=other', [3, 4, 8]],
    ['things in parentheses', 'line=bench not (unit=9 or kind=echo or fc=3)', [5, 6]],
  ])('for %s', (_, text, expected) => {
    const parsed = parseFilter(text);
    const filter = { wanted: parsed.ok ? parsed.value.filter : undefined };
    expect(parsed.ok).toBe(true);
    expect(seqsOf(new TrafficCursor(stream, filter, 0).events())).toEqual(expected);
    expect(seqsOf(wantedNewestFirst(stream, filter)).reverse()).toEqual(expected);
    // What REST shows of the same events is filtered in the same way, as a report does. It has one range of a request.
    if (text === 'addr=20-24') return;
    const read = (seq: number) => stream.read(seq);
    const shown = [...new TrafficCursor(stream, {}, 0).events()].flatMap((event) =>
      event ? [trafficView(event, read)] : [],
    );
    const page = pageOf(shown, text, new URLSearchParams());
    expect('events' in page && seqsOf(page.events)).toEqual(expected);
  });
});
