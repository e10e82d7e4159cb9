import { expect, it } from 'vitest';
import { atOnce } from '../../../src/common/work.js';
import { imageOf, run, STILL, tableOf, wordsOf } from './build.js';

const ENTRIES = [...run(2, 3, { value: 7 }), { address: 5, type: 'uint32' as const, value: 0x0001_0002 }];

it('a block has the words, flags, counters and actions of its cells, and nothing behind the end', () => {
  const image = imageOf(8, [
    ...run(2, 3, { value: 7, action: { name: 'increment' } }),
    { address: 6, value: 9, writable: false },
  ]);
  expect([...image.block(1, 4).reads]).toEqual([0, 0, 0, 0]);
  image.reads.incrementAll(3, 2);
  image.writes.increment(4);
  const { words, meta, reads, writes, actions } = image.block(3, 7);
  expect([...words]).toEqual([7, 7, 0, 9, 0, 0, 0]);
  expect([...meta].map((flags) => flags !== 0)).toEqual([true, true, false, true, false, false, false]);
  expect([...reads]).toEqual([1, 1, 0, 0, 0, 0, 0]);
  expect([...writes]).toEqual([0, 1, 0, 0, 0, 0, 0]);
  expect(actions).toEqual([
    [3, { name: 'increment' }],
    [4, { name: 'increment' }],
  ]);
  expect([...image.block(8, 2).words, ...image.block(100, 1).meta]).toEqual([0, 0, 0]);
  expect([1, 2, 3, 4, 5].map((address) => image.hasActions(address, 1))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect([image.hasActions(0, 2), image.hasActions(0, 3), image.hasActions(4, 9)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(image.hasActions(5, 3)).toBe(false);
  expect(image.block(1, 2).actions).toEqual([[2, { name: 'increment' }]]);
});

it('cells are as configured until a word or a flag of theirs is changed, and again after a reset', () => {
  const image = imageOf(8, ENTRIES);
  const changed = () => Array.from({ length: 8 }, (_, address) => !image.isAsConfigured(address, 1));
  expect(changed()).not.toContain(true);
  image.setWord(3, 8);
  image.setWritable(5, false);
  expect(changed()).toEqual([false, false, false, true, false, true, false, false]);
  expect([image.isAsConfigured(0, 3), image.isAsConfigured(0, 4), image.isAsConfigured(4, 1)]).toEqual([
    true,
    false,
    true,
  ]);
  image.setWord(3, 7);
  expect(image.isAsConfigured(3, 2)).toBe(true);
  image.noteWrite(3, 1, { by: 'REST' });
  image.reset();
  expect(changed()).not.toContain(true);
  expect([image.isWritable(5), image.lastWrites.get(3)]).toEqual([true, undefined]);
});

it('each change of a word or a flag is counted, and what a signal computes is not', () => {
  const image = imageOf(8, ENTRIES);
  const added = (act: () => void) => {
    const before = image.changes;
    act();
    return image.changes - before;
  };
  expect(added(() => image.setWord(2, 7))).toBe(0);
  expect(added(() => image.setWord(2, 8))).toBe(1);
  expect(added(() => image.setWords(2, [8, 9, 7]))).toBe(1);
  expect(added(() => image.setWritable(2, false))).toBe(1);
  expect(added(() => image.show({ address: 5, cells: 2, type: 'uint32' }, 0x0003_0004))).toBe(0);
  expect(added(() => image.reset())).toBe(1);
});

it('a computed value is shown in its own cells alone', () => {
  const image = imageOf(8, ENTRIES);
  image.show({ address: 5, cells: 2, type: 'uint32' }, 0x0003_0004);
  expect(wordsOf(image)).toEqual([0, 0, 7, 7, 7, 3, 4, 0]);
});

it('a value is known as it would be after a write of a part of it', () => {
  const image = imageOf(8, ENTRIES);
  const location = { address: 5, cells: 2, type: 'uint32' } as const;
  expect(image.valueWith(location, 6, [5])).toBe(0x0001_0005);
  expect(image.valueWith(location, 4, [9, 8])).toBe(0x0008_0002);
  expect(image.valueWith(location, 5, [0, 0])).toBe(0);
  expect(image.valueAt(location)).toBe(0x0001_0002);
});

it('knows the order and the padding of the value at a cell', () => {
  const image = imageOf(6, [
    { address: 0 },
    { address: 1, type: 'uint32', order: { wordOrder: 'little', byteOrder: 'big' } },
    { address: 3, type: 'string', order: { wordOrder: 'big', byteOrder: 'little', padding: 'space' } },
    { address: 4, type: 'string', order: { wordOrder: 'big', byteOrder: 'big', padding: 'nul' } },
  ]);
  expect([0, 1, 2, 3, 4].map((cell) => image.orderAt(cell))).toEqual([
    { wordOrder: 'big', byteOrder: 'big' },
    { wordOrder: 'little', byteOrder: 'big', padding: undefined },
    { wordOrder: 'little', byteOrder: 'big', padding: undefined },
    { wordOrder: 'big', byteOrder: 'little', padding: 'space' },
    { wordOrder: 'big', byteOrder: 'big' },
  ]);
  image.write({ address: 3, cells: 1, type: 'string' }, 'A');
  expect(image.wordAt(3)).toBe(0x2041);
});

it('a snapshot of what nobody has changed takes no memory of its own', () => {
  const image = imageOf(8, ENTRIES);
  const { layout, words, meta } = image.snapshot();
  expect([words === layout.words, meta === layout.meta]).toEqual([true, true]);
});

it('a snapshot keeps what was there, and a cell of it can be restored', () => {
  const image = imageOf(8, ENTRIES);
  const first = image.snapshot();
  image.setWord(2, 8);
  image.setWritable(2, false);
  const second = image.snapshot();
  image.setWord(2, 9);
  image.setWritable(2, true);
  expect([first.words[2], second.words[2], image.wordAt(2)]).toEqual([7, 8, 9]);
  expect([first.meta[2], first.meta[2] === second.meta[2]]).toEqual([image.block(2, 1).meta[0], false]);
  image.restore(2, 8, false);
  expect([image.wordAt(2), image.isWritable(2)]).toEqual([8, false]);
  const { changes } = image;
  image.restore(2, 6, false);
  expect([image.wordAt(2), image.changes]).toEqual([6, changes]);
});

it('a write to a part of an image is noted with its cells, and only where a writer is known', () => {
  const image = imageOf(40, run(10, 20));
  const table = tableOf(image, { base: 10, size: 20 });
  table.writeWords(3, [1]);
  table.writeBits(48, [true]);
  expect(image.lastWrites.get(13)).toBeUndefined();
  table.writer = { by: 'line', line: 'lan' };
  table.writeWords(3, [1, 2]);
  expect(wordsOf(image).slice(12, 16)).toEqual([0, 1, 2, 0]);
  const noted = () =>
    wordsOf(image).flatMap((_, address) => (image.lastWrites.get(address) ? [address] : []));
  expect(noted()).toEqual([13, 14]);
  expect(image.lastWrites.get(13)?.at).toEqual(STILL.now());
  table.writeBits(20, Array(20).fill(true));
  expect(noted()).toEqual([11, 12, 13, 14]);
  expect(table.currentWords(1, 3)).toEqual([0xfff0, 0x00ff, 1]);
  expect([table.currentBit(19), table.currentBit(20)]).toEqual([false, true]);
  expect(table.maskedWord(1, 0x00ff, 0x1234)).toBe(0x12f0);
});

it('whoever computes values is asked before a cell changes, and hears of each change and each write once', () => {
  const image = imageOf(8, ENTRIES);
  const heard: string[] = [];
  const hear = (what: string) => (address: number, count?: number) => {
    heard.push([what, address, ...(count === undefined ? [] : [count]), image.wordAt(2)].join(' '));
    return false;
  };
  image.live = {
    refresh: hear('refresh'),
    changing: hear('changing'),
    changed: hear('changed'),
    written: hear('written'),
    isFull: () => false,
  };
  const after = (act: () => void) => {
    heard.length = 0;
    act();
    return [...heard];
  };
  expect(after(() => image.setWord(2, 1))).toEqual(['changing 2 7', 'changed 2 1 1']);
  expect(after(() => image.setWords(2, [8, 9]))).toEqual(['changing 2 1', 'changing 3 1', 'changed 2 2 8']);
  const location = { address: 5, cells: 2, type: 'uint32' } as const;
  expect(after(() => image.setValue(location, 9))).toEqual(['changing 5 8', 'changing 6 8', 'changed 5 2 8']);
  expect(after(() => image.write(location, 9)).at(-1)).toBe('written 5 2 8');
  expect(after(() => image.show(location, 7))).toEqual([]);
  expect(after(() => image.restore(3, 7, true))).toEqual([]);
  expect(after(() => image.refresh(1, 3))).toEqual(['refresh 1 3 8']);
  expect(after(() => image.touch(1, 3))).toEqual(['refresh 1 3 8']);
  expect(after(() => tableOf(image).writeWords(2, [4, 5])).at(-1)).toBe('written 2 2 4');
  expect(after(() => tableOf(image).writeBits(37, [true])).at(-1)).toBe('written 2 1 36');
  const part = tableOf(image, { base: 2, size: 6 });
  expect(after(() => part.currentWords(1, 2))).toEqual(['refresh 3 2 36']);
  expect(after(() => part.maskedWord(1, 0, 0))).toEqual(['refresh 3 1 36']);
  expect(after(() => part.readBits(15, 2))).toEqual(['refresh 2 2 36']);
  expect(after(() => part.currentBit(16))).toEqual(['refresh 3 1 36']);
});

it('what clients read in place of a value that is not there is put over the words that they ask for', () => {
  const image = imageOf(8, ENTRIES);
  image.cover = (address, words) => {
    if (address <= 3 && address + words.length > 3) words[3 - address] = 0xffff;
  };
  expect(image.servedWords(2, 3)).toEqual([7, 0xffff, 7]);
  expect(image.servedWords(3, 1)).toEqual([0xffff]);
  expect(tableOf(image).readWords(2, 2)).toEqual([7, 0xffff]);
  expect(image.wordAt(3)).toBe(7);
  expect(tableOf(image).readBits(47, 2)).toEqual([false, true]);
  expect(tableOf(image).currentBit(63)).toBe(true);
  expect(tableOf(image).bitAt(63)).toBe(false);
});

it('counters of cells are counted across the borders of their pages, and read as a block', () => {
  const image = imageOf(1024, []);
  image.reads.incrementAll(254, 260);
  image.reads.increment(255);
  expect([253, 254, 255, 256, 511, 512, 513, 514].map((cell) => image.reads.get(cell))).toEqual([
    0, 1, 2, 1, 1, 1, 1, 0,
  ]);
  const { reads, writes } = image.block(253, 5);
  expect([[...reads], [...writes]]).toEqual([
    [0, 1, 2, 1, 1],
    [0, 0, 0, 0, 0],
  ]);
  image.reads.incrementAll(254, 0);
  expect(image.reads.get(254)).toBe(1);
});

it('counts the values with a cell in a range, of any length, whatever is defined between them', () => {
  const image = imageOf(2000, [
    { address: 0, value: 0 },
    { address: 2, type: 'float64', value: 0 },
    { address: 8, type: 'uint32', value: 0 },
    // It begins where a pause is made, and the next one just before one.
    { address: 512, type: 'uint32', value: 0 },
    { address: 1023, type: 'uint32', value: 0 },
  ]);
  const counted = (address: number, count: number) => atOnce(image.valuesIn(address, count));
  expect(counted(0, 20)).toBe(3);
  expect(counted(4, 5)).toBe(2);
  expect(counted(10, 30)).toBe(0);
  expect(counted(0, 2000)).toBe(5);
});
