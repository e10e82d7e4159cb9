import { describe, expect, it } from 'vitest';
import {
  lastBefore,
  RecordingScanner,
  readBlock,
  type ScannedRecording,
} from '../../../src/device/signals/recording/scan.js';

const SOURCE = { file: 'a.csv', time: 'time', column: 'v' };

/** Feeds a text in pieces of `size` bytes, as a file is read. */
function scanned(text: string, size = text.length): ScannedRecording {
  const bytes = Buffer.from(text);
  const scanner = new RecordingScanner(SOURCE);
  for (let at = 0; at < bytes.length; at += size) {
    if (!scanner.feed(bytes.subarray(at, at + size))) break;
  }
  return scanner.end();
}

function indexOf(text: string) {
  const found = scanned(text);
  if (!found.ok) throw new Error(`line ${found.line}: ${found.error}`);
  return found.index;
}

/** All rows of a text, read block by block through its index. */
function rowsOf(text: string) {
  const index = indexOf(text);
  const bytes = Buffer.from(text);
  return index.times.map((_, i) => {
    const block = readBlock(index, bytes.subarray(index.offsets[i], index.offsets[i + 1]));
    return block.ok ? block.value : block.error;
  });
}

describe('a recording', () => {
  const text = 'time,v\n10,1\n\n10.5,2\n12.5,-3.5e1\n';

  it('has the times of its rows since the first one, and lasts as long after the last row as before it', () => {
    expect(indexOf(text)).toEqual({
      columns: { separator: ',', time: 0, value: 1 },
      epoch: 10_000,
      times: [0],
      offsets: [7, text.length],
      length: 4500,
    });
    expect(rowsOf(text)).toEqual([{ times: [0, 500, 2500], values: [1, 2, -35] }]);
  });

  it('is the same in whatever pieces its bytes come', () => {
    for (const size of [1, 2, 7, 8, 13]) expect(scanned(text, size)).toEqual(scanned(text));
    // The last line need not end.
    expect(scanned(text.trimEnd(), 5)).toMatchObject({ ok: true, index: { length: 4500 } });
  });

  it('of one row lasts a second, and of two rows at one time a millisecond', () => {
    expect(indexOf('time,v\n5,1\n').length).toBe(1000);
    expect(indexOf('time,v\n5,1\n5,2\n').length).toBe(1);
  });

  it('has a new block after 1024 rows, and before a row that begins more than 64 KiB behind the last block', () => {
    const rows = (count: number, tail = '') =>
      Array.from({ length: count }, (_, i) => `${i},1${tail}\n`).join('');
    expect(indexOf(`time,v\n${rows(1024)}`).times).toEqual([0]);
    expect(indexOf(`time,v\n${rows(2049)}`).times).toEqual([0, 1_024_000, 2_048_000]);
    // Rows of 1024 bytes: the row that begins 64 KiB later is still one of the block.
    const kib = (i: number) => `${i},1,`.padEnd(1023, 'x');
    const wide = `time,v,text\n${Array.from({ length: 70 }, (_, i) => `${kib(i)}\n`).join('')}`;
    expect(indexOf(wide).times).toEqual([0, 65_000]);
    expect(indexOf(wide).offsets).toEqual([12, 12 + 65 * 1024, wide.length]);
  });

  it.each([
    ['time,v\n0,1\n1,high\n', 3, 'expected a number, got "high"'],
    ['time,v\n0,1\n\n1,1\n0.5,1\n7,1', 5, 'expected a time no earlier than the one in the line above'],
    ['time,v\n0,1\n1', 3, 'expected a number, got ""'],
    ['time,v\n', 1, 'expected rows of data after the line with the column names'],
    ['', 0, 'expected rows of data after the line with the column names'],
    ['time,w\n0,1\n', 1, 'unknown column "v"'],
    [
      'time,v\nnoon,1\n',
      2,
      'expected a time in seconds or in ISO 8601, such as 2024-12-31T23:59:59Z, got "noon"',
    ],
  ])('%j is refused at line %d', (wrong, line, message) => {
    for (const size of [1, 1000]) {
      expect(scanned(wrong, size)).toMatchObject({
        ok: false,
        line,
        error: expect.stringContaining(message),
      });
    }
  });

  it('is no longer read after a mistake, and the first mistake is reported', () => {
    const scanner = new RecordingScanner(SOURCE);
    expect(scanner.feed(Buffer.from('time,v\n0,1\n'))).toBe(true);
    expect(scanner.feed(Buffer.from('1,x\n2,y\n3,z'))).toBe(false);
    expect(scanner.end()).toEqual({ ok: false, line: 3, error: 'expected a number, got "x"' });
  });

  it('has lines of at most 64 KiB, also while a line has not ended', () => {
    const line = (length: number) => '0,1,'.padEnd(length, 'x');
    expect(scanned(`time,v,text\n${line(65_536)}\n`, 1000)).toMatchObject({ ok: true });
    const refused = { ok: false, line: 2, error: 'expected at most 65536 bytes in a line' };
    expect(scanned(`time,v,text\n${line(65_537)}`)).toEqual(refused);
    expect(scanned(`time,v,text\n${line(65_537)}`, 1000)).toEqual(refused);
  });
});

describe('a row of a recording', () => {
  /** The first row of a file with these names and this line. */
  const row = (line: string, names = 'time,v') => rowsOf(`${names}\n${line}\n`)[0];

  it.each([
    ['0,+1', 1],
    ['0,1.', 1],
    ['0,.5', 0.5],
    ['0,-12.25E-2', -0.1225],
    ['0,1e+2', 100],
    ['0,"3"', 3],
    ['0 , 3 ', 3],
    ['0,3,4,5', 3],
  ])('%s has the value %d', (line, value) => {
    expect(row(line)).toEqual({ times: [0], values: [value] });
  });

  it.each(['x1', '1x', '1,000.5.', '0x10', '1e', 'e1', '.', '+', '', 'Infinity', '1e999', '1 2'])(
    'refuses the value %j',
    (value) => {
      expect(scanned(`time,v\n0,"${value}"\n`)).toEqual({
        ok: false,
        line: 2,
        error: `expected a number, got ${JSON.stringify(value)}`,
      });
    },
  );

  it.each(['2024-01-01x', 'x2024-01-01', '24-01-01', '2024-13-01', ''])('refuses the time %j', (time) => {
    expect(scanned(`time,v\n${time},1\n`)).toMatchObject({
      ok: false,
      line: 2,
      error: expect.stringContaining('expected a time'),
    });
  });

  it('may have separators and doubled quotes in quoted cells; other quotes are text', () => {
    const names = 'a,"v",b,time';
    expect(row('"x, ""y"", z" , 2 ,"", 7', names)).toEqual({ times: [0], values: [2] });
    // A quote in a cell that is not quoted as a whole begins nothing.
    expect(row('3" pipe,2,"a" b,7', names)).toEqual({ times: [0], values: [2] });
    expect(row('"open,2,x,7', names)).toEqual({ times: [0], values: [2] });
  });

  it('has a separator that the first line shows: tabs before semicolons before commas', () => {
    expect(row('0;1,5;2', 'time;a,b;v')).toEqual({ times: [0], values: [2] });
    expect(row('0\t1;5\t2', 'time\ta;b,c\tv')).toEqual({ times: [0], values: [2] });
  });
});

describe('a block of a file that has changed', () => {
  it('is what is wrong with its first bad row', () => {
    const index = indexOf('time,v\n1,1\n');
    expect(readBlock(index, Buffer.from('1,1\n2,x\n3,y\n'))).toEqual({
      ok: false,
      error: 'expected a number, got "x"',
    });
    expect(readBlock(index, Buffer.from('1,1\r\n\r\n  \n2,5  \r\n'))).toEqual({
      ok: true,
      value: { times: [0, 1000], values: [1, 5] },
    });
  });
});

describe('the last time before', () => {
  it.each([
    [[], 5, 0],
    [[10], 5, 0],
    [[10, 20, 30], 9, 0],
    [[10, 20, 30], 10, 0],
    [[10, 20, 30], 19, 0],
    [[10, 20, 30], 20, 1],
    [[10, 20, 30], 29, 1],
    [[10, 20, 30], 30, 2],
    [[10, 20, 30], 99, 2],
    [[10, 20, 20, 30], 20, 2],
  ])('of %j at %d is number %d', (times, time, index) => {
    expect(lastBefore(times, time)).toBe(index);
  });
});
