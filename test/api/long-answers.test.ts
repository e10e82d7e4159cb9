import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { LongAnswers } from '../../src/api/long-answers.js';

/** A pace that counts turns, and a clock on which nothing passes but what the making of elements takes. */
class CountingPace {
  hasRoom = false;
  turns = 0;
  time = 0;

  async take(): Promise<void> {
    this.turns++;
  }

  now(): number {
    return this.time;
  }

  /** Elements each of which takes `ms`; notes the turn in which each was made. */
  *elements(count: number, ms: number, madeIn: number[] = [], text = ''): Generator<object> {
    for (let i = 0; i < count; i++) {
      this.time += ms;
      madeIn.push(this.turns);
      yield { i, text };
    }
  }
}

class Reply {
  contentType = '';
  payload: unknown;

  type(contentType: string): this {
    this.contentType = contentType;
    return this;
  }

  send(payload: unknown): Promise<void> {
    this.payload = payload;
    return Promise.resolve();
  }

  async text(): Promise<string> {
    if (!(this.payload instanceof Readable)) return String(this.payload);
    return (await this.payload.toArray()).join('');
  }
}

async function sent(pace: CountingPace, answer: object): Promise<Reply> {
  const reply = new Reply();
  await new LongAnswers(pace).send(reply, answer);
  return reply;
}

describe('an answer with lists', () => {
  test('is the JSON of the same object', async () => {
    const answer = {
      result: 'ok',
      none: [],
      rows: [{ a: 1 }, 'b', null],
      absent: undefined,
      map: { x: [1] },
    };
    const reply = await sent(new CountingPace(), answer);
    expect(reply.contentType).toBe('application/json; charset=utf-8');
    expect(reply.payload).toBe(JSON.stringify(answer));
    expect((await sent(new CountingPace(), {})).payload).toBe('{}');
  });

  test('leaves undefined out of lists, and calls functions when all before them is written', async () => {
    let made = 0;
    function* searched() {
      for (; made < 6; made++) yield made % 3 === 2 ? made : undefined;
    }
    const reply = await sent(new CountingPace(), { rows: searched(), count: () => made });
    expect(reply.payload).toBe('{"rows":[2,5],"count":6}');
  });

  test('gives the event loop back in a search that finds nothing', async () => {
    const pace = new CountingPace();
    function* searching() {
      for (let i = 0; i < 100; i++) {
        pace.time += 0.125;
        yield undefined;
      }
    }
    expect((await sent(pace, { rows: searching() })).payload).toBe('{"rows":[]}');
    expect(pace.turns).toBe(26);
  });

  test('is made in one turn when that takes less than half a millisecond', async () => {
    const pace = new CountingPace();
    await sent(pace, { rows: pace.elements(100, 0.004) });
    expect(pace.turns).toBe(1);
  });

  test('is made and sent at once when its turn has room for it', () => {
    const pace = new CountingPace();
    pace.hasRoom = true;
    const reply = new Reply();
    expect(new LongAnswers(pace).send(reply, { rows: pace.elements(2, 0.125) })).toBeUndefined();
    expect(reply.payload).toBe('{"rows":[{"i":0,"text":""},{"i":1,"text":""}]}');
    expect(pace.turns).toBe(0);
  });

  test('goes on in turns of its own when its turn had room for its beginning only', async () => {
    const pace = new CountingPace();
    pace.hasRoom = true;
    const madeIn: number[] = [];
    const reply = new Reply();
    await new LongAnswers(pace).send(reply, { rows: pace.elements(12, 0.125, madeIn) });
    expect(madeIn).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(JSON.parse(await reply.text()).rows).toHaveLength(12);
  });

  test('gives the event loop back every half millisecond, however much there is to make', async () => {
    const pace = new CountingPace();
    const madeIn: number[] = [];
    const reply = await sent(pace, { rows: pace.elements(1000, 0.125, madeIn) });
    for (let turn = 1; turn <= 250; turn++) expect(madeIn.filter((each) => each === turn).length).toBe(4);
    expect(JSON.parse(await reply.text()).rows).toHaveLength(1000);
  });

  test('gives it back after each element that takes longer than that', async () => {
    const pace = new CountingPace();
    const madeIn: number[] = [];
    await sent(pace, { rows: pace.elements(5, 9, madeIn) });
    expect(madeIn).toEqual([1, 2, 3, 4, 5]);
  });

  test('of more than 64 KiB is made no faster than it is read', async () => {
    const pace = new CountingPace();
    const madeIn: number[] = [];
    const reply = await sent(pace, { rows: pace.elements(1000, 0, madeIn, 'x'.repeat(1000)) });
    expect(reply.payload).toBeInstanceOf(Readable);
    expect(madeIn.length).toBeLessThan(140);
    const text = await reply.text();
    expect(madeIn).toHaveLength(1000);
    expect(JSON.parse(text).rows).toHaveLength(1000);
  });

  test('stops being made when its client goes away', async () => {
    const pace = new CountingPace();
    const madeIn: number[] = [];
    const reply = await sent(pace, { rows: pace.elements(1000, 0, madeIn, 'x'.repeat(1000)) });
    (reply.payload as Readable).destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(madeIn.length).toBeLessThan(140);
  });
});
