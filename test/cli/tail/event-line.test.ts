import { describe, expect, it } from 'vitest';
import { coloured, eventLine, plain } from '../../../src/cli/tail/event-line.js';
import type { TrafficView } from '../../../src/simulator/traffic/view-schema.js';

const TIME = '2026-03-01T12:00:07.000250Z';

const view = (more: Partial<TrafficView>): TrafficView => ({
  seq: 1,
  line: 'bus',
  kind: 'request',
  direction: 'in',
  time: TIME,
  monotonicUs: 0,
  text: 'unit 1 read coils 0',
  ...more,
});

/** The line without its time of day, which depends on the time zone, and without the spaces of columns. */
function shown(more: Partial<TrafficView>, hex = false): string {
  const line = eventLine(view(more), { hex, paint: plain, nameWidth: 3 });
  expect(line).toMatch(/^\d\d:\d\d:07\.000250 {2}/);
  return line.slice('00:00:07.000250  '.length).replaceAll(/ +/g, ' ');
}

describe('a line of the monitor', () => {
  it('has the pause before a frame in ms and in characters, and the direction', () => {
    expect(shown({ pauseUs: 3500, pauseCharacters: 6.11 })).toBe('bus 3.500 ms 6.1 ch → unit 1 read coils 0');
  });

  it('has no pause before the first frame', () => {
    expect(shown({ pauseUs: null, pauseCharacters: null })).toBe('bus → unit 1 read coils 0');
  });

  it('has the time since the request before a reply, and names the faults', () => {
    const faults = [
      { rule: 'late', kind: 'delay', outcome: 'applied' },
      { rule: 'torn', kind: 'break', outcome: 'not achieved', reason: 'no break here' },
    ] as const;
    expect(
      shown({
        kind: 'reply',
        direction: 'out',
        text: 'unit 1 read coils 0: 1',
        responseTimeUs: 12_345,
        faults: [...faults],
      }),
    ).toBe('bus 12.345 ms ← unit 1 read coils 0: 1 [late: delay; torn: break not achieved, no break here]');
  });

  it('tells after what time another device has answered', () => {
    expect(shown({ kind: 'foreign response', pauseUs: 4000, responseTimeUs: 4000 })).toBe(
      'bus 4.000 ms ⇠ unit 1 read coils 0 (after 4.000 ms)',
    );
  });

  it('has the bytes when they are asked for', () => {
    expect(shown({ bytes: '01 02', omittedBytes: 9 }, true)).toBe(
      'bus → unit 1 read coils 0 | 01 02 … 9 more',
    );
    expect(shown({ bytes: '01 02' }, false)).toBe('bus → unit 1 read coils 0');
  });

  it('tells how much was left out', () => {
    const leftOut = { kind: 'left out', count: 1240, text: '1,240 left out' } as const;
    expect(eventLine(leftOut, { hex: false, paint: plain, nameWidth: 3 })).toBe('… 1,240 left out');
  });

  const clears = '\x1b[2J\u202e';
  const everywhere = view({
    line: `bus${clears}`,
    direction: 'none',
    text: `client ${clears}\r\n`,
    client: clears,
    faults: [{ rule: clears, kind: 'delay', outcome: 'not achieved', reason: clears }],
    bytes: clears,
  });
  it.each([
    ['an event', everywhere],
    ['what was left out', { kind: 'left out', count: 1, text: clears }],
  ] as const)('has nothing in it that a terminal would obey, except the colours: %s', (_, event) => {
    const line = eventLine(event, { hex: true, paint: coloured, nameWidth: 3 });
    expect(line).toContain('?[2J?');
    const uncoloured = [0, 2, 31, 35, 36].reduce((text, code) => text.replaceAll(`\x1b[${code}m`, ''), line);
    expect(uncoloured).toMatch(/^[^\p{Cc}\u202e]*$/u);
    expect(eventLine(event, { hex: true, paint: plain, nameWidth: 3 })).toMatch(/^[^\p{Cc}\u202e]*$/u);
  });
});
