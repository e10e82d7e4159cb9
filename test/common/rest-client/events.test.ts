import { afterEach, describe, expect, it, vi } from 'vitest';
import { unreached } from '../../../src/common/rest-client/client.js';
import { follow, SseParser } from '../../../src/common/rest-client/events.js';

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

  it.each(['data: x', 'data: x\n'])(
    'of a message without an end, as %j again and again, 16 MB are kept',
    (text) => {
      const parser = new SseParser();
      const piece = text.repeat(1024 * 1024);
      const pushAll = () => {
        for (let i = 0; i < 4; i++) parser.push(piece);
      };
      expect(pushAll).toThrow('an event is too long');
    },
  );

  it('may be as many as they want', () => {
    const parser = new SseParser();
    const piece = `data: ${'x'.repeat(10_000)}\n\n`.repeat(100);
    for (let i = 0; i < 30; i++) expect(parser.push(piece)).toHaveLength(100);
  });
});

/** A simulator whose answers are given one after the other. A list is the pieces of a stream; `stays` leaves it open. */
function simulator(...answers: (readonly string[] | number | 'stays')[]) {
  const paths: string[] = [];
  const encoder = new TextEncoder();
  const send = async (path: string, { signal }: RequestInit) => {
    paths.push(path);
    const answer = answers.shift() ?? 503;
    if (typeof answer === 'number') {
      return new Response(JSON.stringify({ detail: `no: ${answer}`, problems: [] }), { status: answer });
    }
    return new Response(
      new ReadableStream({
        start(controller) {
          signal?.addEventListener('abort', () => controller.error(signal.reason));
          if (answer === 'stays') return;
          for (const piece of answer) controller.enqueue(encoder.encode(piece));
          controller.close();
        },
      }),
      { headers: { 'content-type': 'text/event-stream; charset=utf-8' } },
    );
  };
  return { send, paths };
}

describe('following events', () => {
  afterEach(() => vi.useRealTimers());

  it('says what came, why it ended, and connects again', async () => {
    const { send, paths } = simulator(['id: 1\nda', 'ta: [1]\n\n'], 401, ['data: 2\n\n']);
    const steps = [];
    const closed = { kind: 'closed', ...unreached(new Error('the connection was closed')) };
    const controller = new AbortController();
    const next = () =>
      paths.length < 3 ? { path: `/${paths.length}`, signal: controller.signal } : undefined;
    for await (const step of follow(send, next, 1000)) steps.push(step);
    expect(paths).toEqual(['/0', '/1', '/2']);
    expect(steps).toEqual([
      { kind: 'open' },
      { kind: 'message', id: '1', data: '[1]' },
      closed,
      { kind: 'closed', ok: false, status: 401, problem: { detail: 'no: 401', problems: [] } },
      { kind: 'open' },
      { kind: 'message', id: undefined, data: '2' },
      closed,
    ]);
  });

  it('connects at once, and says nothing of an end, when another connection is wanted', async () => {
    const { send, paths } = simulator('stays', ['data: 2\n\n']);
    const kinds = [];
    let current = new AbortController();
    const next = () => {
      current = new AbortController();
      return paths.length < 2 ? { path: '/', signal: current.signal } : undefined;
    };
    for await (const { kind } of follow(send, next, 60_000)) {
      kinds.push(kind);
      if (kinds.length === 1) setTimeout(() => current.abort());
    }
    expect(kinds).toEqual(['open', 'open', 'message', 'closed']);
  });

  it('takes a connection that is silent for too long for dead', async () => {
    vi.useFakeTimers();
    const { send } = simulator('stays');
    const steps = follow(send, () => ({ path: '/', signal: new AbortController().signal }), 5000);
    expect((await steps.next()).value).toEqual({ kind: 'open' });
    const end = steps.next();
    await vi.advanceTimersByTimeAsync(5000);
    expect((await end).value).toEqual({
      kind: 'closed',
      ...unreached(new Error('nothing was received for 5 s')),
    });
  });

  it('takes no other page for events', async () => {
    const send = async () => new Response('<html>');
    const [{ value }] = [await follow(send, () => ({ path: '/', signal: AbortSignal.any([]) }), 1000).next()];
    expect(value).toMatchObject({
      kind: 'closed',
      status: 200,
      problem: { detail: expect.stringContaining('not an event stream') },
    });
  });

  it('ends its connection when its reader leaves', async () => {
    let isAborted = false;
    const send = async (_: string, { signal }: RequestInit) => {
      signal?.addEventListener('abort', () => {
        isAborted = true;
      });
      return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
    };
    for await (const _ of follow(send, () => ({ path: '/', signal: new AbortController().signal }), 1000))
      break;
    expect(isAborted).toBe(true);
  });
});
