import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../src/remote/mqtt/outbox.js';

describe('what waits for the broker', () => {
  it('is the newest of each retained topic, and every event', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1000 });
    outbox.add({ topic: 'a', payload: '1', retain: true });
    outbox.add({ topic: 'e', payload: 'x' });
    outbox.add({ topic: 'a', payload: '2', retain: true });
    outbox.add({ topic: 'e', payload: 'y' });
    expect([1, 2, 3, 4].map(() => outbox.take()?.payload)).toEqual(['2', 'x', 'y', undefined]);
    expect(outbox.lost).toBe(0);
  });

  it('loses the oldest when there are too many, and counts them', () => {
    const outbox = new Outbox({ messages: 3, bytes: 1000 });
    for (let i = 0; i < 10; i++) outbox.add({ topic: 'e', payload: `${i}` });
    expect(outbox).toMatchObject({ size: 3, lost: 7 });
    expect(outbox.take()?.payload).toBe('7');
  });

  it('keeps the newest state of each topic, whatever else comes', () => {
    const outbox = new Outbox({ messages: 5, bytes: 1000 });
    outbox.add({ topic: 'a', payload: '1', retain: true });
    for (let i = 0; i < 10; i++) expect(outbox.add({ topic: 'e', payload: `${i}` })).toBe(false);
    outbox.add({ topic: 'a', payload: '4711', retain: true });
    for (let i = 10; i < 20; i++) expect(outbox.add({ topic: 'e', payload: `${i}` })).toBe(false);
    expect([1, 2, 3, 4, 5, 6].map(() => outbox.take()?.payload)).toEqual([
      '4711',
      ...['16', '17', '18', '19'],
      undefined,
    ]);
    expect(outbox.lost).toBe(16);
  });

  it('says so when it gives up the state of a topic, because there are too many', () => {
    const outbox = new Outbox({ messages: 3, bytes: 1000 });
    const given = ['a', 'b', 'c', 'd'].map((topic) => outbox.add({ topic, payload: '1', retain: true }));
    expect(given).toEqual([false, false, false, true]);
    expect(outbox).toMatchObject({ size: 3, lost: 1 });
  });

  it('counts what an answer carries beside its payload', () => {
    const outbox = new Outbox({ messages: 10, bytes: 100 });
    outbox.add({ topic: 'a', payload: '1', correlation: new Uint8Array(200) });
    expect(outbox.size).toBe(0);
  });

  it('has no more bytes than it may have, whatever comes', () => {
    const outbox = new Outbox({ messages: 1000, bytes: 100 });
    for (let i = 0; i < 50; i++) outbox.add({ topic: 't', payload: 'x'.repeat(i % 60) });
    let bytes = 0;
    for (let next = outbox.take(); next; next = outbox.take()) bytes += 1 + next.payload.length;
    expect(bytes).toBeLessThanOrEqual(100);
    outbox.add({ topic: 't', payload: 'y'.repeat(500) });
    expect(outbox.size).toBe(0);
    outbox.add({ topic: 't', payload: 'z' });
    expect(outbox.take()?.payload).toBe('z');
  });

  it('forgets what is told anew after a lost connection: what is retained, and what is fleeting', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1000 });
    outbox.add({ topic: 'a', payload: '1', retain: true });
    outbox.add({ topic: 'b', payload: '2', isFleeting: true });
    outbox.add({ topic: 'e', payload: 'x' });
    outbox.disconnected([]);
    expect(outbox.size).toBe(1);
    expect(outbox.take()?.topic).toBe('e');
  });

  it('goes on after a lost connection with what was not acknowledged', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1000 });
    outbox.add({ topic: 'e', payload: 'later' });
    outbox.disconnected([{ topic: 'e', payload: 'before' }]);
    expect([1, 2, 3].map(() => outbox.take()?.payload)).toEqual(['before', 'later', undefined]);
  });

  it('still takes back a retained message after a lost connection, unless that was told again since', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1000 });
    outbox.add({ topic: 'a', payload: '', retain: true });
    outbox.disconnected([
      { topic: 'a', payload: '1', retain: true },
      { topic: 'b', payload: '', retain: true },
    ]);
    outbox.add({ topic: 'b', payload: '2', retain: true });
    expect([1, 2, 3].map(() => outbox.take())).toEqual([
      { topic: 'b', payload: '2', retain: true },
      { topic: 'a', payload: '', retain: true },
      undefined,
    ]);
  });
});
