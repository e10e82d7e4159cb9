import { describe, expect, it } from 'vitest';
import {
  Conversations,
  expectation,
  lengthOf,
  MOST,
  orderedTroubles,
  ownTroubles,
} from '../../../src/remote/web/views/conversations/model.js';
import type { StreamedView } from '../../../src/simulator/traffic/view-schema.js';
import { read } from '../../testing/scenario/read.js';

const COMMON = { line: 'bus', unit: 1, function: 3, address: 0, quantity: 2, time: '' };
const WHAT = 'unit 1 read holding registers 0–1';

function request(seq: number, monotonicUs: number, more: object = {}): StreamedView {
  const event = {
    ...COMMON,
    seq,
    monotonicUs,
    startedUs: monotonicUs - 500,
    kind: 'request',
    direction: 'in',
  };
  return { text: WHAT, ...event, ...more } as StreamedView;
}

function reply(seq: number, to: number, monotonicUs: number, more: object = {}): StreamedView {
  const event = { ...COMMON, seq, request: to, monotonicUs, kind: 'reply', direction: 'out', silence: null };
  return { text: `${WHAT}: 1 2`, responseTimeUs: 4000, ...event, ...more } as StreamedView;
}

describe('conversations', () => {
  it('have a row for each question: its period, its rate, its newest values and its slowest reply', () => {
    const talks = new Conversations();
    const us = (i: number) => 10e6 + i * 100_000;
    for (let i = 0; i < 30; i++)
      talks.add([request(2 * i + 1, us(i)), reply(2 * i + 2, 2 * i + 1, us(i) + 4000)]);
    talks.add([request(90, us(30), { unit: 2 }), request(91, us(30), { address: 7 })]);
    expect(talks.all.map(({ unit, address, asked }) => [unit, address, asked])).toEqual([
      [1, 0, 30],
      [1, 7, 1],
      [2, 0, 1],
    ]);
    const [first] = talks.all;
    expect(first?.what).toBe('read holding registers 0–1');
    expect(first?.values).toBe('1 2');
    expect([first?.periodUs, first?.slowestUs, first?.rate(13e6)]).toEqual([100_000, 4000, 10]);
    expect(first?.spark(13e6).slice(-4)).toEqual([0, 10, 10, 10]);
    expect(first?.pairs.at(-1)).toMatchObject({ endUs: us(29), replyUs: us(29) + 4000, outcome: 'good' });
  });

  it('keep apart what a rule did and what went wrong by itself', () => {
    const talks = new Conversations();
    const faults = [{ rule: 'busy', kind: 'exception', outcome: 'applied' }];
    talks.add([
      request(1, 1e6),
      reply(2, 1, 1e6, { exception: 6, faults }),
      request(3, 2e6),
      reply(4, 3, 2e6, { exception: 2, text: `${WHAT}: exception 02` }),
      request(5, 3e6),
      reply(6, 5, 3e6, { silence: 'manners', responseTimeUs: null }),
      request(7, 4e6, { kind: 'dropped' }),
      { ...request(8, 5e6, { kind: 'damaged', text: 'CRC error' }) },
    ]);
    const [only] = talks.all;
    expect(only && orderedTroubles(only)).toEqual(['busy: exception in 25 %']);
    expect(only && ownTroubles(only)).toEqual(['exception 02 in 25 %', 'no reply to 50 %']);
    expect(only?.pairs.map(({ outcome }) => outcome)).toEqual([
      'ordered',
      'exceptions',
      'missing',
      'missing',
    ]);
    expect([...talks.noises.values()]).toEqual([
      { line: 'bus', kind: 'damaged', count: 1, lastUs: 5e6, text: 'CRC error' },
    ]);
  });

  it('do not grow with the traffic', () => {
    const talks = new Conversations();
    for (let i = 0; i < 5000; i++) talks.add([request(i, i * 1000, { address: i % 1000 })]);
    expect(talks.all.length).toBe(MOST);
    for (let i = 0; i < 5000; i++)
      talks.add([request(2 * i, 5e6 + i * 1000), reply(2 * i + 1, 2 * i, 5e6 + i * 1000)]);
    const first = talks.all.find(({ address }) => address === 0);
    expect([first?.pairs.length, first?.times.length]).toEqual([24, 500]);
  });

  it('keep the rules that acted last', () => {
    const talks = new Conversations();
    for (let i = 0; i < 50; i++) {
      const faults = ['always', `rule ${i}`].map((rule) => ({ rule, kind: 'delay', outcome: 'applied' }));
      talks.add([request(2 * i, i * 1000), reply(2 * i + 1, 2 * i, i * 1000, { faults })]);
    }
    const [only] = talks.all;
    expect([only?.rules.size, only?.rules.get('always: delay'), only?.rules.has('rule 49: delay')]).toEqual([
      20,
      50,
      true,
    ]);
  });

  it('become a step of a scenario', () => {
    const talks = new Conversations();
    for (let i = 0; i < 5; i++) talks.add([request(i, i * 500_000, { line: 'bus 1' })]);
    const [only] = talks.all;
    const text = only && expectation(only);
    expect(text).toBe(
      '- name: "unit 1 read holding registers 0–1"\n  expect: {line: "bus 1", unit: 1, function: 3, address: 0, quantity: 2, every: 500ms, tolerance: 250ms, for: 5000ms}\n',
    );
    const { line, ...conditions } = { line: 'bus 1', unit: 1, function: 3, address: 0, quantity: 2 };
    const pace = { every: '500ms', tolerance: '250ms', for: '5000ms' };
    // A scenario takes it, apart from the line, which its bench does not have.
    expect(read({ steps: [{ name: 'x', expect: { ...conditions, ...pace } }] })).not.toBeInstanceOf(Array);
  });

  it('say lengths of time as short as they are', () => {
    expect([420, 4100, 104_000, 2_530_000, 61e6].map(lengthOf)).toEqual([
      '0.4 ms',
      '4.1 ms',
      '104 ms',
      '2.5 s',
      '61 s',
    ]);
  });
});
