import { describe, expect, it } from 'vitest';
import { driftOf, partsTable } from '../../../scripts/soak/drift.mjs';

const line = { requests: 1000, lost: 0, median: 1, p99: 40 };
const part = {
  memory: 150,
  heap: { lines: 20, desk: 30 },
  code: { lines: 5, desk: 6 },
  descriptors: 37,
  rest: 500,
  lines: { tcp: line, serial: line },
};
const steady = [{ ...part, memory: 120 }, part, part, part, part];

/** All parts as they should be, but the last one. */
const ends = (last: Partial<typeof part>) => [...steady.slice(0, 4), { ...part, ...last }];
const lineEnds = (last: Partial<typeof line>) =>
  ends({ lines: { ...part.lines, tcp: { ...line, ...last } } });

describe('the judge of an endurance run', () => {
  it('finds nothing in a run that stays as it is, even when the first part was better', () => {
    expect(driftOf(steady)).toEqual([]);
  });

  it('takes what a garbage collector and a busy machine do for no drift', () => {
    expect(driftOf([...steady.slice(0, 4), { ...part, memory: 165, descriptors: 39 }])).toEqual([]);
    expect(driftOf(lineEnds({ median: 8, p99: 150 }))).toEqual([]);
  });

  it.each([
    ['memory', ends({ memory: 190 }), 'memory grew from 150 to 190 MB'],
    [
      'the heap of one side',
      ends({ heap: { lines: 20, desk: 33 } }),
      'the heap of the desk thread grew from 30.0 to 33.0 MB',
    ],
    ['descriptors', ends({ descriptors: 40 }), 'file descriptors grew from 37 to 40'],
    ['the median of a line', lineEnds({ median: 13 }), 'tcp: the median grew from 1.0 to 13.0 ms'],
    ['the p99 of a line', lineEnds({ p99: 171 }), 'tcp: p99 grew from 40.0 to 171.0 ms'],
    ['a line that falls silent', lineEnds({ requests: 0 }), 'tcp: no request was answered'],
    ['REST that falls silent', ends({ rest: 0 }), 'rest: no request was answered'],
    ['lost requests', lineEnds({ lost: 2 }), 'tcp: requests lost: 2'],
  ])('tells of %s', (_, parts, problem) => {
    expect(driftOf(parts)).toEqual([problem]);
  });

  it('tells of requests that were lost in a part that is not compared', () => {
    const first = { ...part, lines: { ...part.lines, serial: { ...line, lost: 1 } } };
    expect(driftOf([first, ...steady.slice(1)])).toEqual(['serial: requests lost: 1']);
  });

  it('tells of a line that said nothing in the part that the last one is compared with', () => {
    const silent = {
      ...part,
      lines: { ...part.lines, tcp: { requests: 0, lost: 0, median: Number.NaN, p99: Number.NaN } },
    };
    expect(driftOf([part, silent, part])).toEqual(['tcp: no request was answered']);
  });

  it('has no verdict without two parts to compare', () => {
    expect(driftOf([part, part].slice(0, 1))).toEqual(['too few parts were measured']);
    expect(driftOf([])).toEqual(['too few parts were measured']);
  });

  it('prints a table for a document', () => {
    expect(partsTable(lineEnds({ lost: 1 }).slice(3))).toBe(
      [
        '| part | 1 | 2 |',
        '| --- | --- | --- |',
        '| memory, MB | 150.0 | 150.0 |',
        '| heap of the lines thread, of the desk thread, MB | 20.00, 30.00 | 20.00, 30.00 |',
        '| compiled code in these heaps, MB | 5.00, 6.00 | 5.00, 6.00 |',
        '| descriptors | 37 | 37 |',
        '| requests to REST | 500 | 500 |',
        '| tcp: requests, lost; median, p99 ms | 1000, 0; 1.0, 40.0 | 1000, 1; 1.0, 40.0 |',
        '| serial: requests, lost; median, p99 ms | 1000, 0; 1.0, 40.0 | 1000, 0; 1.0, 40.0 |',
      ].join('\n'),
    );
  });
});
