import { describe, expect, it } from 'vitest';
import type { ActionSource } from '../../../src/device/registers/actions.js';
import { RegisterImage } from '../../../src/device/registers/image.js';
import { LayoutBuilder } from '../../../src/device/registers/layout.js';
import { definitionOf, imageOf, layoutOf, STILL, wordsOf } from './build.js';

const imageFrom = (builder: LayoutBuilder, source: ActionSource = STILL): RegisterImage =>
  new RegisterImage(builder.build(), source);

describe('defining registers', () => {
  const conflicts: [name: string, entry: Parameters<typeof definitionOf>[0], conflict: object | undefined][] =
    [
      ['a register before a value', { address: 3 }, undefined],
      ['a register after a value', { address: 6 }, undefined],
      ['a register on the first cell of a value', { address: 4 }, { kind: 'overlap', address: 4 }],
      ['a register on the second cell of a value', { address: 5 }, { kind: 'overlap', address: 5 }],
      ['a value that runs into another one', { address: 2, type: 'uint64' }, { kind: 'overlap', address: 4 }],
      ['a value that begins in another one', { address: 5, type: 'uint32' }, { kind: 'overlap', address: 5 }],
      [
        'a text around another value',
        { address: 0, type: 'string', cells: 8 },
        { kind: 'overlap', address: 4 },
      ],
      ['the last register', { address: 9 }, undefined],
      ['a register past the end', { address: 10 }, { kind: 'outside', address: 10, size: 10 }],
      [
        'a value that ends past the end',
        { address: 9, type: 'uint32' },
        { kind: 'outside', address: 10, size: 10 },
      ],
    ];
  it.each(conflicts)('%s: $2', (_, entry, conflict) => {
    const builder = new LayoutBuilder(10);
    expect(builder.define(definitionOf({ address: 4, type: 'uint32', value: 0x00010002 }))).toBeUndefined();
    expect(builder.define(definitionOf({ value: entry.type === 'string' ? 'x' : 9, ...entry }))).toEqual(
      conflict,
    );
    const image = imageFrom(builder);
    expect([image.wordAt(4), image.wordAt(5)]).toEqual([1, 2]);
    const defined = Array.from({ length: 10 }, (__, cell) => image.typeAt(cell) !== 'invalid').filter(
      Boolean,
    ).length;
    expect(defined).toBe(conflict ? 2 : 3);
  });

  it('gives the cells of a value the type next, after the first one', () => {
    const image = imageOf(6, [{ address: 1, type: 'float64' }]);
    expect([0, 1, 2, 3, 4, 5].map((cell) => image.typeAt(cell))).toEqual([
      ...['invalid', 'float64', 'next', 'next', 'next'],
      'invalid',
    ]);
    expect(image.typeAt(6)).toBe('invalid');
  });

  it('is read-only unless it says otherwise, cell by cell', () => {
    const builder = new LayoutBuilder(4);
    builder.define({ address: 0, type: 'uint16', cells: 1, value: 1 });
    builder.define({ address: 1, type: 'uint32', cells: 2, value: 1 });
    builder.define({ address: 3, type: 'uint16', cells: 1, value: 1, writable: true });
    builder.allowWrite(2);
    const image = imageFrom(builder);
    expect([0, 1, 2, 3].map((cell) => image.isWritable(cell))).toEqual([false, false, true, true]);
    expect(image.typeAt(2)).toBe('next');
  });
});

describe('repeating a cell', () => {
  it('copies type, word, access, order and action over what was there', () => {
    const builder = new LayoutBuilder(8);
    builder.define(
      definitionOf({
        address: 0,
        type: 'uint32',
        value: 0x00010002,
        order: { wordOrder: 'little', byteOrder: 'big' },
        action: { name: 'increment' },
      }),
    );
    builder.define(definitionOf({ address: 4, value: 99, writable: false, action: { name: 'uptime' } }));
    builder.copyCell(0, 4);
    builder.copyCell(1, 5);
    const image = imageFrom(builder);
    expect(image.valueSpan(4)).toEqual({ address: 4, cells: 2, type: 'uint32' });
    expect(image.isWritable(4)).toBe(true);
    image.touch(4, 1);
    expect([image.wordAt(4), image.wordAt(5)]).toEqual([3, 1]);
    expect([image.wordAt(0), image.wordAt(1)]).toEqual([2, 1]);
  });

  it('takes the action away where the copied cell has none, and the definition where it is undefined', () => {
    const builder = new LayoutBuilder(4);
    builder.define(definitionOf({ address: 0, value: 7 }));
    builder.define(definitionOf({ address: 2, action: { name: 'increment' } }));
    builder.define(definitionOf({ address: 3 }));
    builder.copyCell(0, 2);
    builder.copyCell(1, 3);
    const image = imageFrom(builder);
    image.touch(2, 1);
    expect(image.wordAt(2)).toBe(7);
    expect(image.hasActions(0, 4)).toBe(false);
    expect(image.typeAt(3)).toBe('invalid');
  });
});

describe('the register image', () => {
  const entries = [
    { address: 0, value: 1 },
    { address: 1, type: 'string' as const, cells: 2, value: 'ab' },
    { address: 3, value: 5, action: { name: 'increment' as const } },
  ];

  it('of a device never shows what was written to another device of the same layout', () => {
    const layout = layoutOf(5, entries);
    const [first, second] = [new RegisterImage(layout, STILL), new RegisterImage(layout, STILL)];
    const before = wordsOf(second);
    first.setWord(0, 42);
    first.setWritable(0, false);
    first.setValue({ address: 1, cells: 2, type: 'string' }, 'wxyz');
    first.touch(3, 1);
    expect(wordsOf(first)).toEqual([42, 0x7778, 0x797a, 6, 0]);
    expect(wordsOf(second)).toEqual(before);
    expect(wordsOf(new RegisterImage(layout, STILL))).toEqual(before);
    expect([first.isWritable(0), second.isWritable(0)]).toEqual([false, true]);
    expect([first.reads.get(3), second.reads.get(3)]).toEqual([1, 0]);
  });

  it('goes back to configured values, access and zero counters, again and again', () => {
    const image = imageOf(5, entries);
    const configured = wordsOf(image);
    for (let round = 0; round < 3; round++) {
      image.setWord(0, 42);
      image.setWritable(0, false);
      image.setWritable(4, true);
      image.touch(0, 5);
      image.writes.increment(0);
      expect(image.wordAt(0)).toBe(42);
      image.reset();
      expect(wordsOf(image)).toEqual(configured);
      expect([0, 1, 2, 3, 4].map((cell) => image.isWritable(cell))).toEqual([true, true, true, true, false]);
      expect([0, 1, 2, 3, 4].map((cell) => image.reads.get(cell) + image.writes.get(cell))).toEqual([
        0, 0, 0, 0, 0,
      ]);
    }
  });

  it('knows the value that any of its cells belongs to', () => {
    const image = imageOf(12, [
      { address: 0 },
      { address: 1, type: 'uint32' },
      { address: 3, type: 'string', cells: 3 },
      { address: 6, type: 'uint64' },
      { address: 10, type: 'bits' },
    ]);
    const spans = Array.from({ length: 12 }, (_, cell) => {
      const span = image.valueSpan(cell);
      return span ? `${span.type} ${span.address}+${span.cells}` : '';
    });
    expect(spans).toEqual([
      'uint16 0+1',
      ...Array<string>(2).fill('uint32 1+2'),
      ...Array<string>(3).fill('string 3+3'),
      ...Array<string>(4).fill('uint64 6+4'),
      'bits 10+1',
      '',
    ]);
  });

  it('counts cells far apart without mixing them up', () => {
    const image = imageOf(65536, []);
    for (const cell of [0, 255, 256, 65535, 65535]) image.reads.increment(cell);
    expect([0, 1, 255, 256, 512, 65535].map((cell) => image.reads.get(cell))).toEqual([1, 0, 1, 1, 0, 2]);
    expect(image.writes.get(0)).toBe(0);
  });
});
