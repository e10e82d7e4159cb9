import { afterEach, expect, test, vi } from 'vitest';
import { LongAnswers } from '../../../src/api/long-answers.js';
import { EventMessages, INTERVAL_MS, type Message } from '../../../src/api/v1/event-messages.js';
import type { TrafficEvent } from '../../../src/traffic/event.js';
import type { TrafficFilter } from '../../../src/traffic/filter.js';
import { TrafficStream } from '../../../src/traffic/stream.js';

interface Told {
  readonly seq?: number;
  readonly kind?: string;
  readonly count?: number;
}

/** Messages of a stream that keeps so many events, in intervals that the test begins. */
function setUp(events = 100_000) {
  const stream = new TrafficStream({ events, bytes: 2 ** 24 });
  const line = stream.lineNumber('lan');
  const other = stream.lineNumber('other');
  const written: number[] = [];
  const text = (event: TrafficEvent) => {
    written.push(event.seq);
    return JSON.stringify({ seq: event.seq, line: event.line, pad: 'x'.repeat(1000) });
  };
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000);
  const answers = new LongAnswers({ hasRoom: true, take: () => Promise.resolve(), now: () => 0 });
  const messages = new EventMessages(stream, text, answers);
  return {
    stream,
    messages,
    written,
    happen: (count: number, number = line) => {
      for (let i = 0; i < count; i++)
        stream.add(number, { kind: 'line', at: 0, state: 'open', text: 'open' } as never);
    },
    other,
    nextInterval: () => void now.mockReturnValue(performance.now() + INTERVAL_MS),
  };
}

afterEach(() => vi.restoreAllMocks());

/** A reader that asks for the next message when it has read the one before. */
class Reader {
  readonly told: Told[] = [];
  readonly messages: EventMessages;
  readonly filter: TrafficFilter;
  readonly name: string;
  after: number;

  constructor(messages: EventMessages, after = 0, lines?: string) {
    this.messages = messages;
    this.after = after;
    this.filter = lines === undefined ? {} : { lines: new Set([lines]) };
    this.name = JSON.stringify({ line: lines });
  }

  async read(): Promise<Message> {
    const message = await this.messages.after(this.after, this.filter, this.name);
    const data = /^data: (.*)$/m.exec(message.bytes?.toString() ?? '')?.[1];
    if (data !== undefined) this.told.push(...(JSON.parse(data) as Told[]));
    expect(message.until).toBeGreaterThanOrEqual(this.after);
    this.after = message.until;
    return message;
  }

  async readAll(): Promise<void> {
    while (this.after < this.messages.until) await this.read();
  }

  get seqs(): (number | undefined)[] {
    return this.told.map(({ seq }) => seq);
  }
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

test('readers that are equally far share one message, and each event is written once', async () => {
  const { messages, happen, written } = setUp();
  happen(20);
  const readers = [1, 2, 3].map(() => new Reader(messages));
  const told = await Promise.all(readers.map((reader) => reader.read()));
  expect(new Set(told).size).toBe(1);
  for (const { seqs } of readers) expect(seqs).toEqual(upTo(20));
  expect(written).toEqual(upTo(20));
});

test('a reader with another filter is told what passes its own, and comes as far', async () => {
  const { messages, happen, other } = setUp();
  happen(3);
  happen(2, other);
  happen(1);
  const all = new Reader(messages);
  const one = new Reader(messages, 0, 'other');
  const none = new Reader(messages, 5, 'other');
  await Promise.all([all.readAll(), one.readAll(), none.readAll()]);
  expect(all.seqs).toEqual(upTo(6));
  expect(one.seqs).toEqual([4, 5]);
  expect(none.told).toEqual([]);
  expect([all.after, one.after, none.after]).toEqual([6, 6, 6]);
});

test('readers that come, lag and read at their own pace are told each event once, in order', async () => {
  const { messages, happen, nextInterval } = setUp();
  const quick = new Reader(messages);
  const slow = new Reader(messages);
  let late: Reader | undefined;
  for (let round = 0; round < 30; round++) {
    // More than a message holds, so the slow reader falls behind.
    happen(200);
    nextInterval();
    await quick.readAll();
    if (round % 3 === 0) await slow.read();
    if (round === 7) late = new Reader(messages, messages.until);
    await late?.readAll();
  }
  expect(slow.after).toBeLessThan(quick.after);
  await slow.readAll();
  expect(quick.seqs).toEqual(upTo(6000));
  expect(slow.seqs).toEqual(upTo(6000));
  expect(late?.seqs).toEqual(upTo(6000, 1601));
});

test('what the stream has given up is told as a number, where it is missing', async () => {
  const { messages, happen, nextInterval } = setUp(50);
  happen(30);
  const reader = new Reader(messages);
  await reader.readAll();
  happen(200);
  nextInterval();
  await reader.readAll();
  expect(reader.told.slice(0, 30).map(({ seq }) => seq)).toEqual(upTo(30));
  expect(reader.told[30]).toMatchObject({ kind: 'left out', count: 150 });
  expect(reader.told.slice(31).map(({ seq }) => seq)).toEqual(upTo(230, 181));
});

test('what the stream gives up while a message is made is told by it or by the next, once', async () => {
  const { messages, happen, nextInterval } = setUp(50);
  happen(40);
  const reader = new Reader(messages);
  const reading = reader.read();
  // The message was asked for, and is made in a later turn.
  happen(1000);
  await reading;
  nextInterval();
  await reader.readAll();
  const missing = reader.told.reduce((sum, { count = 0 }) => sum + count, 0);
  expect(missing).toBe(990);
  expect(reader.seqs.filter((seq) => seq !== undefined)).toEqual(upTo(1040, 991));
});

test('nothing of an interval that is over can be kept', async () => {
  const { messages, happen, nextInterval, written } = setUp();
  happen(5);
  await new Reader(messages).readAll();
  nextInterval();
  await new Reader(messages).readAll();
  // The message is made anew, so the one before was forgotten.
  expect(written).toEqual([...upTo(5), ...upTo(5)]);
});
