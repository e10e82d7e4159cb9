import { describe, expect, test } from 'vitest';
import { silence } from '../../../src/modbus/protocol/reply-plan.js';
import { trafficView } from '../../../src/simulator/traffic/view.js';
import { isoTime } from '../../../src/simulator/traffic/words.js';
import { frameEvent, replyEvent, sendPlan } from './events.js';

const NOTHING = () => undefined;
const READ = '03 0000 0001';

describe('a frame on a serial line', () => {
  test('has the pause before it in µs and in characters', () => {
    const view = trafficView(
      frameEvent(READ, { startedAt: 991.5, pause: 4.0104, characterTime: 1.1458 }),
      NOTHING,
    );
    expect(view).toMatchObject({
      pauseUs: 4010,
      pauseCharacters: 3.5,
      direction: 'in',
      monotonicUs: 1_000_000,
      startedUs: 991_500,
    });
  });

  test('the first one has no pause that is known', () => {
    const view = trafficView(frameEvent(READ, { pause: undefined }), NOTHING);
    expect(view).toMatchObject({ pauseUs: null, pauseCharacters: null });
  });

  test('a response between others has its request and the time that it took', () => {
    const view = trafficView(
      frameEvent('03 02 0007', { kind: 'foreign response', answers: { seq: 5, after: 2.5 } }),
      (seq) => (seq === 5 ? frameEvent(READ, { kind: 'foreign request' }) : undefined),
    );
    expect(view).toMatchObject({ request: 5, responseTimeUs: 2500, address: 0, quantity: 1, values: [7] });
  });

  test('of more than 1024 bytes the others are counted', () => {
    const bytes = new Uint8Array(1030);
    const view = trafficView({ ...frameEvent(READ), kind: 'discarded', isRest: false, bytes }, NOTHING);
    expect(view.bytes).toHaveLength(3 * 1024 - 1);
    expect(view.omittedBytes).toBe(6);
  });
});

describe('a reply', () => {
  test('has what was sent, when, and what it says', () => {
    const view = trafficView(replyEvent(READ, '03 02 0007'), NOTHING);
    expect(view).toMatchObject({
      direction: 'out',
      request: 1,
      responseTimeUs: 4000,
      unit: 17,
      function: 3,
      values: [7],
      ended: 'complete',
    });
    expect(view.bytes).toMatch(/^11 03 02 00 07 /);
    expect(view).not.toHaveProperty('omittedBytes');
    expect(view).not.toHaveProperty('written');
  });

  test('that was not sent has no response time, and says why', () => {
    const view = trafficView(replyEvent(READ, '', { plan: silence('rule mute') }), NOTHING);
    expect(view).toMatchObject({ responseTimeUs: null, bytes: '', silence: 'rule mute', address: 0 });
  });

  test.each([
    ['06 0001 0003', { table: 'holding', address: 1, values: [3] }],
    ['05 0001 ff00', { table: 'coils', address: 1, values: [1] }],
    ['0f 0013 0003 01 05', { table: 'coils', address: 19, values: [1, 0, 1] }],
    ['10 0001 0002 04 000a 0102', { table: 'holding', address: 1, values: [10, 258] }],
    ['16 0004 00f2 0025', { table: 'holding', address: 4, values: undefined }],
    ['17 0003 0001 000e 0001 02 00ff', { table: 'holding', address: 14, values: [255] }],
  ])('that confirms %s says what was written', (request, written) => {
    const response = request.startsWith('17')
      ? '17 02 0001'
      : request.startsWith('10')
        ? '10 0001 0002'
        : request;
    expect(trafficView(replyEvent(request, response), NOTHING).written).toEqual(written);
  });

  test('that refuses a write, or is damaged, confirms nothing', () => {
    expect(trafficView(replyEvent('06 0001 0003', '86 02'), NOTHING)).not.toHaveProperty('written');
    const bytes = Uint8Array.of(17, 6, 0, 1, 0, 3, 0, 0);
    const plan = sendPlan({ kind: 'bytes', waitMs: 0, bytes, continues: false });
    expect(trafficView(replyEvent('06 0001 0003', '', { plan }), NOTHING)).not.toHaveProperty('written');
  });
});

test.each([
  [1_790_000_000_000, '2026-09-21T14:13:20.000000Z'],
  [1_790_000_000_000.001, '2026-09-21T14:13:20.000001Z'],
  [1_790_000_000_999.75, '2026-09-21T14:13:20.999750Z'],
])('%d ms is %s', (ms, text) => {
  expect(isoTime(ms)).toBe(text);
});
