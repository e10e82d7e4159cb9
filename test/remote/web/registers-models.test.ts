import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/remote/web/live.js';
import {
  draftOf,
  type ObjectShape,
  readDraft,
  shapeOf,
} from '../../../src/remote/web/ui/schema-form/draft.js';
import { type Format, parseText, textOf } from '../../../src/remote/web/views/registers/formats.js';
import {
  columnsFor,
  Known,
  moved,
  partsOf,
  rowCells,
  rowOf,
  rowStartsOf,
  whyNot,
} from '../../../src/remote/web/views/registers/layout.js';
import { missingIn, touchesOf, trafficOf } from '../../../src/remote/web/views/registers/touches.js';
import type { RegisterView } from '../../../src/simulator/commands/schemas/value.js';

const VALUE: RegisterView = {
  table: 'holding',
  address: 3,
  registers: 2,
  name: 'limit',
  value: 1.5,
  raw: 1.5,
  unit: 'A',
  type: 'float32',
  available: true,
  writable: true,
  description: null,
  label: null,
  bits: null,
  violates: null,
  signal: null,
  trouble: null,
  saturated: 0,
  action: null,
  reads: 0,
  writes: 0,
  lastWriter: null,
};

function knownOf(words: readonly (number | null)[], values: readonly RegisterView[] = []): Known {
  const known = new Known();
  known.take({
    table: 'holding',
    from: 0,
    bits: 16,
    words: [...words],
    access: words.map((word) => (word === null ? '-' : 'w')).join(''),
    values: [...values],
    power: 'on',
    clock: { time: 0, speed: 1, paused: false },
  });
  return known;
}

describe('the text of registers', () => {
  it.each<[Format, number[], string]>([
    ['unsigned', [65535], '65535'],
    ['signed', [65535], '-1'],
    ['hex', [0xbeef], 'BEEF'],
    ['bits', [0x8001], '1000 0000 0000 0001'],
    ['text', [0x4100], 'A·'],
    ['float', [0x3dcc, 0xcccd], '0.1'],
    ['float-swapped', [0xcccd, 0x3dcc], '0.1'],
    ['float', [0x7f80, 0], 'inf'],
    ['float', [0x7fc0, 0], 'NaN'],
  ])('is in %s what %j says, and is read back', (format, words, text) => {
    expect(textOf(format, words, 16)).toBe(text);
    if (format === 'text') return;
    expect(parseText(format, text, 16)).toEqual({ words });
  });

  it('goes on in further registers', () => {
    expect(parseText('text', 'ABC', 16)).toEqual({ words: [0x4142, 0x4300] });
  });

  it.each<[Format, string, string]>([
    ['unsigned', '65536', 'from 0 to 65535'],
    ['unsigned', '-1', 'from 0 to 65535'],
    ['unsigned', '', 'a whole number'],
    ['unsigned', '1.5', 'a whole number'],
    ['signed', '32768', 'from -32768 to 32767'],
    ['hex', '12345', 'one to four'],
    ['bits', '102', 'digits 0 and 1'],
    ['float', '', 'a number'],
    ['float', '1e39', '32-bit'],
    ['text', '', 'text of 1 to 246 bytes'],
    ['text', 'ü'.repeat(124), 'text of 1 to 246 bytes'],
  ])('in %s does not take %j', (format, text, expected) => {
    expect(parseText(format, text, 16)).toEqual({ expected: expect.stringContaining(expected) as string });
  });

  it('takes words for coils', () => {
    expect(parseText('unsigned', 'on', 1)).toEqual({ words: [1] });
    expect(parseText('hex', '2', 1)).toEqual({ expected: '0 or 1' });
  });
});

describe('a row of the grid', () => {
  const known = knownOf([1, 2, null, 0x3fc0, 0, 6], [VALUE]);
  const row = (format: Format, first: number, columns: number) =>
    rowCells(known, format, { first, columns, size: 7 }).map(({ address, span, text }) => [
      address,
      span,
      text,
    ]);

  it('has a cell for each register', () => {
    expect(row('unsigned', 0, 4)).toEqual([
      [0, 1, '1'],
      [1, 1, '2'],
      [2, 1, '–'],
      [3, 1, '16320'],
    ]);
  });

  it('shows a value in its unit over all its registers, and goes on with it in the next row', () => {
    expect(row('values', 0, 4).at(-1)).toEqual([3, 1, '1.5 A']);
    expect(row('values', 4, 4)).toEqual([
      [4, 1, '…'],
      [5, 1, '6'],
      [6, 1, ''],
    ]);
  });

  it('pairs registers from even addresses on, or from where a value begins', () => {
    expect(row('float', 0, 8).map(([address, span]) => [address, span])).toEqual([
      [0, 2],
      [2, 1],
      [3, 2],
      [5, 1],
      [6, 1],
    ]);
    expect(row('float', 0, 8)[2]).toEqual([3, 2, '1.5']);
  });

  it('has round numbers of columns', () => {
    expect(columnsFor('unsigned', 16, 900)).toBe(10);
    expect(columnsFor('hex', 16, 900)).toBe(16);
    expect(columnsFor('hex', 16, 340)).toBe(4);
    expect(columnsFor('bits', 16, 100)).toBe(1);
    expect(columnsFor('unsigned', 1, 390)).toBe(10);
  });

  it.each<Format>(['float', 'float-swapped', 'values'])(
    'has a float of two registers in one row on a phone: %s',
    (format) => {
      expect(columnsFor(format, 16, 372) % 2).toBe(0);
      expect(columnsFor(format, 16, 200)).toBe(2);
    },
  );
});

describe('what can not be changed', () => {
  it('says why', () => {
    const known = knownOf([1, null, 3], [{ ...VALUE, address: 2, registers: 1, signal: { sine: {} } }]);
    expect(whyNot(known, 0, undefined)).toBeUndefined();
    expect(whyNot(known, 0, 'this session is read-only')).toContain('read-only');
    expect(whyNot(known, 1, undefined)).toContain('not defined');
    expect(whyNot(known, 2, undefined)).toContain('signal (sine)');
  });
});

describe('the rows of a table', () => {
  const RANGES = [
    [3, 12],
    [100, 101],
    [40_000, 40_009],
  ] as const;

  it('are those in which something is defined', () => {
    expect(rowStartsOf(RANGES, 10)).toEqual([0, 10, 100, 40_000]);
    expect(rowStartsOf([], 10)).toEqual([]);
  });

  it('are found by the addresses in them', () => {
    const starts = rowStartsOf(RANGES, 10);
    expect([0, 9, 10, 50, 109, 110, 40_009, 65_535].map((at) => rowOf(starts, 10, at))).toEqual([
      0, 0, 1, 2, 2, 3, 3, 3,
    ]);
    expect(rowOf([], 10, 7)).toBe(0);
  });

  it('are read together where they are close together', () => {
    expect(partsOf([0, 10, 100, 40_000], 10, 512)).toEqual([
      { from: 0, end: 110 },
      { from: 40_000, end: 40_010 },
    ]);
    expect(partsOf([], 10, 512)).toEqual([]);
  });
});

describe('keys', () => {
  const starts = Array.from({ length: 7 }, (_, i) => 10 * i);
  const rows = { starts, columns: 10, size: 65, ofPage: 3 };
  it.each([
    ['ArrowLeft', 0, 0],
    ['ArrowRight', 64, 64],
    ['ArrowUp', 5, 5],
    ['ArrowDown', 54, 64],
    ['ArrowDown', 55, 64],
    ['PageDown', 7, 37],
    ['PageDown', 47, 64],
    ['PageUp', 17, 7],
    ['Home', 27, 20],
    ['End', 62, 64],
  ])('%s leads from %i to %i', (key, at, to) => {
    expect(moved({ key, ctrlKey: false }, at, rows)).toBe(to);
  });

  it.each([
    ['ArrowRight', 9, 100],
    ['ArrowLeft', 100, 9],
    ['ArrowDown', 7, 107],
    ['ArrowUp', 107, 7],
    ['PageDown', 7, 40_009],
  ])('%s leads over what is not defined, from %i to %i', (key, at, to) => {
    const gaps = { starts: [0, 100, 40_000], columns: 10, size: 40_010, ofPage: 3 };
    expect(moved({ key, ctrlKey: false }, at, gaps)).toBe(to);
  });

  it('Ctrl leads to both ends, and letters lead nowhere', () => {
    expect(moved({ key: 'End', ctrlKey: true }, 3, rows)).toBe(64);
    expect(moved({ key: 'Home', ctrlKey: true }, 33, rows)).toBe(0);
    expect(moved({ key: 'a', ctrlKey: false }, 3, rows)).toBeUndefined();
  });
});

describe('what traffic touches', () => {
  const device = { lines: { lan: ['1'], bus: ['7'] } };
  const event = (fields: object) => [{ line: 'lan', unit: 1, kind: 'reply', ...fields }] as unknown as Batch;
  const touches = (fields: object) => touchesOf(event(fields), device, 'holding', 16);

  it('is told apart into reads and writes', () => {
    expect(touches({ function: 3, address: 4, quantity: 2 })).toEqual([{ kind: 'read', from: 4, end: 6 }]);
    const written = { table: 'holding', address: 9, values: [1] };
    expect(touches({ function: 6, address: 9, quantity: 1, written })).toEqual([
      { kind: 'written', from: 9, end: 10 },
    ]);
    expect(touches({ function: 23, address: 0, quantity: 1, written })).toHaveLength(2);
    expect(touches({ kind: 'broadcast', unit: 0, function: 16, address: 2, quantity: 3 })).toEqual([
      { kind: 'written', from: 2, end: 5 },
    ]);
  });

  it('is nothing for other units, other tables, and exceptions', () => {
    expect(touches({ unit: 7, function: 3, address: 0, quantity: 1 })).toEqual([]);
    expect(touches({ function: 4, address: 0, quantity: 1 })).toEqual([]);
    expect(touches({ function: 3, address: 0, quantity: 1, exception: 2 })).toEqual([]);
    expect(touchesOf([{ kind: 'left out', count: 3, text: '' }], device, 'holding', 16)).toEqual([]);
  });

  it('finds the address of coils that share one', () => {
    const read = event({ function: 1, address: 15, quantity: 2 });
    expect(touchesOf(read, device, 'coils', 16)).toEqual([{ kind: 'read', from: 0, end: 2 }]);
    expect(touchesOf(read, device, 'coils', 1)).toEqual([{ kind: 'read', from: 15, end: 17 }]);
  });

  it('is asked for narrowly', () => {
    const query = trafficOf(device, 'holding', { from: 1000, end: 1100 }, 16);
    expect(query?.getAll('line')).toEqual(['lan', 'bus']);
    expect(query?.get('address')).toBe('0-2047');
    expect(query?.get('function')).toBe('3,6,16,22,23');
    expect(trafficOf(device, 'holding', { from: 65_000, end: 65_536 }, 16)?.get('address')).toBe(
      '64512-65535',
    );
    expect(trafficOf(device, 'coils', { from: 0, end: 10 }, 16)?.get('address')).toBe('0-16383');
    expect(trafficOf({ lines: {} }, 'holding', { from: 0, end: 10 }, 16)).toBeUndefined();
  });
});

describe('what a device lacks', () => {
  const device = { lines: { lan: ['1'] } };
  const refused = { line: 'lan', unit: 1, kind: 'reply', exception: 2, function: 3, address: 8, quantity: 4 };
  const missing = (fields: object) =>
    missingIn([{ ...refused, ...fields }] as unknown as Batch, device, {
      holding: { registers: 5, ranges: [[0, 4]] },
    }).map(({ text }) => text);

  it('is what was refused with exception 02 and is not defined', () => {
    expect(missing({})).toEqual(['holding 8–11']);
    expect(missing({ address: 4, quantity: 2 })).toEqual(['holding 4–5']);
    expect(missing({ function: 2, quantity: 1 })).toEqual(['discrete 8']);
  });

  it('is nothing that is there, that others refused, or that was refused for another reason', () => {
    for (const fields of [
      { address: 1 },
      { unit: 2 },
      { line: 'bus' },
      { exception: 4 },
      { kind: 'request' },
    ])
      expect(missing(fields)).toEqual([]);
  });
});

describe('the parameters of a signal', () => {
  const shapeFor = (schema: Parameters<typeof shapeOf>[0]['schema']) =>
    shapeOf({ schema, components: { schemas: {} } });
  const square = shapeFor({
    type: 'object',
    properties: {
      period: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^(\\d+)(ms|s|m|h)$' }] },
      duty: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
      mode: { type: 'string', enum: ['hold', 'repeat'] },
    },
    required: ['period'],
  }) as ObjectShape;

  it('are fields with the limits of the schema', () => {
    expect(square.fields.map(({ key, shape }) => ({ key, ...shape }))).toMatchObject([
      { key: 'period', about: 'In ms, or with a unit: 20s, 5m.', range: undefined },
      { key: 'duty', about: 'Default: 0.5.', range: [0, 1] },
      { key: 'mode', choices: ['hold', 'repeat'] },
    ]);
  });

  it('are sent as they were written', () => {
    const draft = draftOf(square, { period: '2s', duty: 0.25 });
    expect(draft).toEqual({ period: '2s', duty: '0.25', mode: '' });
    expect(readDraft(square, draft)).toEqual({ period: '2s', duty: 0.25 });
    expect(readDraft(square, { period: '1e3', duty: '2.5E-3' })).toEqual({ period: 1000, duty: 0.0025 });
  });

  it('may be one without a name, or a list', () => {
    const expression = shapeFor({ type: 'string' });
    expect(readDraft(expression, draftOf(expression, 'a * 2'))).toBe('a * 2');
    const steps = shapeFor({
      type: 'array',
      items: { type: 'object', properties: { value: { type: 'number' } } },
    });
    expect(readDraft(steps, draftOf(steps, [{ value: 1 }]))).toEqual([{ value: 1 }]);
  });
});
