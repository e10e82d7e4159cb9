import { describe, expect, it } from 'vitest';
import {
  CHUNK,
  Chunks,
  type Event,
  isEvent,
  type Row,
  rowsBefore,
  stripSource,
} from '../../../../src/remote/web/views/traffic/chunks.js';
import {
  downloadsOf,
  filterIn,
  momentOf,
  withValues,
} from '../../../../src/remote/web/views/traffic/filter.js';
import {
  cellsOf,
  isAtEnd,
  ROW,
  scrolledTo,
  spanOf,
  timeText,
  toneOf,
} from '../../../../src/remote/web/views/traffic/rows.js';

function event(seq: number, fields: object = {}): Event {
  const time = '2026-01-31T12:00:00.000250Z';
  const common = {
    seq,
    line: 'bus',
    kind: 'request',
    direction: 'in',
    time,
    monotonicUs: 1000 * seq,
    text: `${seq}`,
  };
  return { ...common, ...fields } as Event;
}

const wire = { characterUs: undefined, t35Us: undefined };
const events = (from: number, count: number) => Array.from({ length: count }, (_, i) => event(from + i));
const seqs = (rows: readonly Row[]) => rows.map((row) => (isEvent(row) ? row.seq : row.kind));

describe('the rows', () => {
  it('keep the number of 100,000 events, and some thousands of the events', () => {
    const chunks = new Chunks(0);
    let dropped = 0;
    for (let seq = 1; seq <= 120_000; seq += 500) dropped += chunks.append(events(seq, 500));
    expect(chunks.size).toBeLessThanOrEqual(100_000);
    expect(dropped + chunks.size).toBe(120_000);
    const held = chunks.list.filter(({ rows }) => rows).length;
    expect(held).toBeLessThanOrEqual(34);
    expect(chunks.after).toBe(120_000);
    expect(seqs(chunks.rows(chunks.size - 2, chunks.size))).toEqual([119_999, 120_000]);
  });

  it('say what has to be fetched again, and take it', () => {
    const chunks = new Chunks(0);
    chunks.append(events(1, 100 * CHUNK));
    expect(seqs(chunks.rows(0, 2))).toEqual(['loading', 'loading']);
    const [chunk] = chunks.missing(0, 2);
    expect(chunk).toMatchObject({ after: 0, until: CHUNK, events: CHUNK });
    if (chunk) chunks.fill(chunk, events(1, CHUNK + 50));
    expect(seqs(chunks.rows(0, 2))).toEqual([1, 2]);
    expect(chunks.missing(0, 2)).toEqual([]);
    expect(chunks.size).toBe(100 * CHUNK);
  });

  it('say which of them the simulator has given up meanwhile', () => {
    const chunks = new Chunks(0);
    chunks.append(events(1, 100 * CHUNK));
    const [chunk] = chunks.missing(0, 1);
    if (chunk) chunks.fill(chunk, events(CHUNK - 1, CHUNK));
    expect(seqs(chunks.rows(CHUNK - 4, CHUNK + 1))).toEqual(['gone', 'gone', CHUNK - 1, CHUNK, 'loading']);
  });

  it('keep the row of events that were left out', () => {
    const chunks = new Chunks(5);
    chunks.append([{ kind: 'left out', count: 3, text: '3 left out' }, ...events(9, 2)]);
    expect(seqs(chunks.rows(0, 9))).toEqual(['left out', 9, 10]);
    expect(chunks.list[0]).toMatchObject({ after: 5, until: 10, size: 3, events: 2 });
  });

  it('take older events once', () => {
    const chunks = new Chunks(9);
    chunks.append(events(10, 5));
    expect(chunks.prepend(events(7, 6))).toBe(3);
    expect(chunks.prepend(events(7, 3))).toBe(0);
    expect(seqs(chunks.rows(0, 5))).toEqual([7, 8, 9, 10, 11]);
  });

  it('are one for a request and its reply where one wants it, also when they are fetched again', () => {
    const all = Array.from({ length: 40 * CHUNK }, (_, i) =>
      i % 2 === 0 ? event(i + 1) : event(i + 1, { kind: 'reply', request: i, responseTimeUs: 5000 }),
    );
    const chunks = new Chunks(0, true);
    chunks.append([...all.slice(0, 3)]);
    // A request without a reply is shown until the reply comes.
    expect(seqs(chunks.rows(0, 9))).toEqual([2, 3]);
    chunks.append(all.slice(3));
    expect(chunks.size).toBe(20 * CHUNK);
    const [chunk] = chunks.missing(0, 1);
    expect(chunk).toMatchObject({ events: CHUNK, size: CHUNK / 2 });
    if (chunk) chunks.fill(chunk, all.slice(0, CHUNK));
    expect(seqs(chunks.rows(0, 3))).toEqual([2, 4, 6]);
    expect([chunks.indexOf(3), chunks.indexOf(4), chunks.find(3)?.seq]).toEqual([1, 1, 3]);
    const cells = cellsOf(chunks.rows(1, 2)[0] as Row, true);
    expect([cells.kind, cells.wait]).toEqual(['exchange', '5.000']);
  });

  it('know the place of an event', () => {
    const chunks = new Chunks(0);
    chunks.append([event(3), event(7), event(700)]);
    expect([chunks.indexOf(7), chunks.indexOf(8), chunks.indexOf(701)]).toEqual([1, undefined, undefined]);
  });
});

describe('the rows of the run of a simulator that has ended', () => {
  const now = { time: '2026-01-31T12:00:05.000Z', monotonicUs: 1e6 };

  it('stand before those of the next run, and their times are by its clock', () => {
    const chunks = new Chunks(0);
    chunks.append([...events(1, 2), event(3, { kind: 'reply', request: 2, requestedUs: 2500 })]);
    const before = rowsBefore(chunks, now);
    expect(seqs(before)).toEqual([-3, -2, -1, 'restarted']);
    // The clock of the new run was 0 at 12:00:04, and that of the old one 2.75 ms before 12:00:00.00025.
    expect(before[2]).toMatchObject({
      request: -2,
      earlier: { seq: 3, request: 2 },
      monotonicUs: -4e6 + 250,
      requestedUs: -4e6 - 250,
    });
    const next = new Chunks(0, false, before);
    next.append(events(1, 3000));
    expect(seqs(next.rows(0, 5))).toEqual([-3, -2, -1, 'restarted', 1]);
    expect([next.indexOf(-1), next.indexOf(1), next.after]).toEqual([2, 4, 3000]);
    expect(cellsOf(next.rows(2, 3)[0] as Row).seq).toBe('3');
    expect(
      stripSource(next, 'bus', wire)
        .piecesIn(-5e6, -3e6)
        .map(({ id }) => id),
    ).toContain(-1);
    // And so on, after another restart.
    const third = rowsBefore(next, { ...now, time: '2026-01-31T12:00:09.000Z' });
    expect(third).toHaveLength(2001);
  });

  it('are none of a feed that had none', () => expect(rowsBefore(new Chunks(0), now)).toEqual([]));
});

describe('what stands in a row', () => {
  it('is the pause before a request, and the response time of a reply', () => {
    expect(cellsOf(event(1, { pauseUs: 1752 })).wait).toBe('1.752');
    expect(cellsOf(event(1, { pauseUs: null })).wait).toBe('');
    expect(cellsOf(event(1, { kind: 'reply', responseTimeUs: 5000, pauseUs: 1 })).wait).toBe('5.000');
  });

  it('names each rule once', () => {
    const acted = ['a', 'b', 'a'].map((rule) => ({ rule, kind: 'delay', outcome: 'applied' }));
    expect(cellsOf(event(1, { faults: acted })).faults).toBe('a, b');
  });

  it('says what is not there', () => {
    expect(cellsOf({ kind: 'gone' }).text).toBe('The simulator no longer keeps this event.');
    expect(cellsOf({ kind: 'left out', count: 3, text: '3 left out' }).text).toContain('3 left out');
  });

  it('has the µs of the event', () => expect(cellsOf(event(1)).time).toMatch(/^\d\d:\d\d:00\.000250$/));

  it.each([
    [{ kind: 'damaged' }, 'damaged'],
    [{ kind: 'collision', direction: 'none' }, 'damaged'],
    [{ kind: 'foreign response', direction: 'in' }, 'foreign'],
    [{ kind: 'reply', direction: 'out', exception: 2 }, 'out'],
    [{ kind: 'reply', direction: 'out', faults: [{ rule: 'a', kind: 'crc', outcome: 'applied' }] }, 'spoilt'],
    [
      { kind: 'reply', direction: 'out', faults: [{ rule: 'a', kind: 'crc', outcome: 'not achieved' }] },
      'out',
    ],
    [{ kind: 'reply', direction: 'out', silence: 'fault' }, 'spoilt'],
    [{ kind: 'reply', direction: 'out', silence: 'no power' }, 'missing'],
    [{ kind: 'reply', direction: 'out', silence: null }, 'out'],
    [{ kind: 'line', direction: 'none' }, 'none'],
  ])('has a colour: %o is %s', (fields, tone) => expect(toneOf(event(1, fields))).toBe(tone));
});

describe('what is drawn of the table', () => {
  it('is what is in view, and a little more', () => {
    expect(spanOf(0, 10 * ROW, 100_000)).toEqual({ from: 0, to: 14 });
    expect(spanOf(500 * ROW, 10 * ROW, 100_000)).toEqual({ from: 496, to: 514 });
    expect(spanOf(500 * ROW, 10 * ROW, 3)).toEqual({ from: 3, to: 3 });
  });

  it('knows its end', () => {
    expect([isAtEnd(90 * ROW, 10 * ROW, 100), isAtEnd(80 * ROW, 10 * ROW, 100)]).toEqual([true, false]);
  });

  it('moves only where a row is out of view', () => {
    expect(scrolledTo(5, 0, 10 * ROW)).toBe(0);
    expect(scrolledTo(50, 0, 10 * ROW)).toBe(45 * ROW);
  });
});

describe('the address', () => {
  it('has filters, and keys that are none', () => {
    const query = new URLSearchParams('line=a&unit=1,2&at=7&strip=b&rule=');
    expect(filterIn(query)).toBe('line=a unit=1,2');
    expect(filterIn(new URLSearchParams('problems=true&at=7'))).toBe('problem');
    expect(filterIn(new URLSearchParams('filter=fc%3D3 or rule&line=a, b&problems=ordered'), ['a, b'])).toBe(
      '(fc=3 or rule) line="a, b" problem=ordered',
    );
    expect(withValues(query, { unit: ' ', kind: 'reply ' }).toString()).toBe(
      'line=a&at=7&strip=b&rule=&kind=reply',
    );
  });

  it('leads to downloads of what is filtered', () => {
    const { csv, pcapng } = downloadsOf('rule=a&b');
    expect(csv).toBe('/api/v1/traffic?filter=rule%3Da%26b&format=csv&limit=100000');
    expect(pcapng).toBe('/api/v1/capture.pcapng?filter=rule%3Da%26b');
  });

  it('takes a time of day for the last time it was so late, and leaves the rest to the server', () => {
    const now = new Date(2026, 0, 31, 12, 0, 0).getTime();
    expect(momentOf('11:59:58.25', now)).toBe(
      `${new Date(2026, 0, 31, 11, 59, 58).toISOString().slice(0, 19)}.250000Z`,
    );
    expect(momentOf('13:00', now)).toBe(`${new Date(2026, 0, 30, 13).toISOString().slice(0, 19)}.000000Z`);
    expect(momentOf(' 5m ', now)).toBe('5m');
  });
});

describe('the strip of the table', () => {
  it('has the pieces of its line that are in memory', () => {
    const chunks = new Chunks(0);
    chunks.append([
      event(1, { bytes: '01' }),
      event(2, { bytes: '01', line: 'other' }),
      event(3, { bytes: '01' }),
    ]);
    const source = stripSource(chunks, 'bus', wire);
    expect(source.piecesIn(0, 1e9).map(({ id }) => id)).toEqual([1, 3]);
    expect([source.oldestUs, source.newestUs]).toEqual([1000, 3000]);
    chunks.append([event(4, { bytes: '01' })]);
    expect(stripSource(chunks, 'bus', wire).newestUs).toBe(4000);
    expect(stripSource(chunks, 'none', wire).piecesIn(0, 1e9)).toEqual([]);
  });

  it('has the times of the rows on its ruler, and none where there is nothing', () => {
    const chunks = new Chunks(0);
    expect(stripSource(chunks, 'bus', wire).rulerAt(0)).toBeUndefined();
    // The wall clock went 0.9 ms ahead of the other clock between the two.
    const rows = [
      { time: '2026-01-31T12:00:00.007654Z', monotonicUs: 123_456_789 },
      { time: '2026-01-31T12:00:01.008554Z', monotonicUs: 124_456_789 },
    ];
    chunks.append(rows.map((row, i) => event(i + 1, { bytes: '01', ...row })));
    const source = stripSource(chunks, 'bus', wire);
    for (const { time, monotonicUs } of rows) {
      const ruler = source.rulerAt(monotonicUs + 1000);
      expect(ruler?.textOf(monotonicUs - ruler.zeroUs, 1)).toBe(timeText(time));
    }
  });
});
