import { expect, test } from 'vitest';
import { sharedTexts } from '../../../src/api/v1/shared-texts.js';
import type { TrafficEvent } from '../../../src/traffic/event.js';

const event = (seq: number, text = '') => ({ kind: 'line', seq, text }) as TrafficEvent;

test('an event is written once for all readers that come to it soon', () => {
  const written: number[] = [];
  const textOf = sharedTexts(({ seq }) => {
    written.push(seq);
    return { seq };
  });
  for (const seq of [1, 2, 1, 2, 3]) expect(textOf(event(seq))).toBe(`{"seq":${seq}}`);
  expect(written).toEqual([1, 2, 3]);
  expect(textOf(event(513))).toBe('{"seq":513}');
  expect(textOf(event(1))).toBe('{"seq":1}');
});

test('a long event is not kept in memory, and is written right each time', () => {
  let times = 0;
  const textOf = sharedTexts(() => ({ long: 'x'.repeat(5000), times: ++times }));
  expect(textOf(event(1))).toContain('"times":1');
  expect(textOf(event(1))).toContain('"times":2');
});
