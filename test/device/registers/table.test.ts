import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageOf, run, tableOf, wordsOf } from './build.js';

describe('which registers a client may reach', () => {
  const image = imageOf(20, [
    ...run(0, 4),
    { address: 5, writable: false },
    { address: 6 },
    ...run(8, 2),
    { address: 10, type: 'uint32' },
    { address: 12, type: 'string', cells: 3 },
    { address: 15 },
    ...run(16, 4),
  ]);
  const table = tableOf(image);

  it.each<[address: number, quantity: number, read: boolean, write: boolean]>([
    [0, 4, true, true],
    [0, 5, false, false],
    [4, 1, false, false],
    [5, 1, true, false],
    [5, 2, true, false],
    [6, 1, true, true],
    [3, 3, false, false],
    [19, 1, true, true],
    [19, 2, false, false],
    [20, 1, false, false],
    [65535, 1, false, false],
    [65535, 125, false, false],
    [11, 2, true, true],
  ])('%i, %i registers: read %s, write %s', (address, quantity, read, write) => {
    expect(table.canReadWords(address, quantity)).toBe(read);
    expect(table.canWriteWords(address, quantity)).toBe(write);
    expect(table.refused({ address, quantity }, 'words', false) === undefined).toBe(read);
    expect(table.refused({ address, quantity }, 'words', true) === undefined).toBe(write);
  });

  it.each<[address: number, quantity: number, allowed: boolean]>([
    [9, 1, true],
    [9, 2, false],
    [10, 1, false],
    [10, 2, true],
    [11, 1, false],
    [11, 2, false],
    [9, 3, true],
    [12, 1, false],
    [12, 2, false],
    [12, 3, true],
    [13, 2, false],
    [14, 1, false],
    [14, 2, false],
    [10, 6, true],
    [9, 8, true],
    [9, 5, false],
    [19, 1, true],
  ])('with whole values only, %i, %i registers: %s', (address, quantity, allowed) => {
    const whole = tableOf(image, { wholeValues: true });
    expect(whole.canReadWords(address, quantity)).toBe(allowed);
    expect(whole.canWriteWords(address, quantity)).toBe(allowed);
    expect(whole.canReadBits(16 * address, 16 * quantity)).toBe(allowed);
    expect(whole.canWriteBits(16 * address + 15, 16 * quantity - 15)).toBe(allowed);
    const bits = { address: 16 * address + 15, quantity: 16 * quantity - 15 };
    expect(whole.refused({ address, quantity }, 'words', false) === undefined).toBe(allowed);
    expect(whole.refused(bits, 'bits', true) === undefined).toBe(allowed);
  });

  it('names the first addresses that refuse an access, and why', () => {
    const whole = tableOf(image, { wholeValues: true });
    const range = (address: number, quantity: number) => ({ address, quantity });
    expect(whole.refused(range(10, 1), 'words', false)).toEqual({ ...range(10, 1), why: 'part of a value' });
    expect(whole.refused(range(11, 2), 'words', false)).toEqual({ ...range(11, 1), why: 'part of a value' });
    expect(tableOf(image).refused(range(65_535, 3), 'bits', false)).toEqual({
      ...range(65_535, 3),
      why: 'not defined',
    });
  });

  it('names all addresses on end that refuse it for the same reason, of registers and of bits', () => {
    const refused = (address: number, quantity: number, isWrite = false, of: 'words' | 'bits' = 'words') =>
      table.refused({ address, quantity }, of, isWrite);
    expect(refused(3, 5, true)).toEqual({ address: 4, quantity: 1, why: 'not defined' });
    expect(refused(5, 3, true)).toEqual({ address: 5, quantity: 1, why: 'read only' });
    expect(refused(5, 3)).toEqual({ address: 7, quantity: 1, why: 'not defined' });
    expect(refused(18, 6)).toEqual({ address: 20, quantity: 4, why: 'not defined' });
    expect(refused(70, 20, true, 'bits')).toEqual({ address: 70, quantity: 10, why: 'not defined' });
    expect(refused(79, 20, true, 'bits')).toEqual({ address: 79, quantity: 1, why: 'not defined' });
    expect(refused(80, 20, true, 'bits')).toEqual({ address: 80, quantity: 16, why: 'read only' });
    expect(refused(80, 16, false, 'bits')).toBeUndefined();
  });

  it('is known address by address, in a part of an image, too', () => {
    const part = tableOf(image, { base: 4, size: 6, wholeValues: true });
    const defined = [0, 1, 2, 3, 4, 5, 6].map((address) => part.defines(address, 'words'));
    expect(defined).toEqual([false, true, true, false, true, true, false]);
    expect([15, 16, 47, 48].map((bit) => part.defines(bit, 'bits'))).toEqual([false, true, true, false]);
    expect(part.refused({ address: 5, quantity: 2 }, 'words', false)).toEqual({
      address: 6,
      quantity: 1,
      why: 'not defined',
    });
    expect(part.refused({ address: 1, quantity: 1 }, 'words', true)?.why).toBe('read only');
  });

  it('knows where a range begins or ends inside a value, where whole values are asked for', () => {
    const cuts = (wholeValues: boolean) => tableOf(image, { base: 8, size: 12, wholeValues });
    const ranges = [
      [2, 2],
      [2, 1],
      [3, 1],
      [1, 2],
      [4, 2],
      [4, 3],
      [0, 7],
    ] as const;
    expect(ranges.map(([address, quantity]) => cuts(true).cutsValue({ address, quantity }))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(ranges.some(([address, quantity]) => cuts(false).cutsValue({ address, quantity }))).toBe(false);
  });

  it('ends at address 65535, also where the cells behind it exist', () => {
    const large = imageOf(65536, run(0, 65536));
    const words = tableOf(large);
    expect(words.canReadWords(65535, 1)).toBe(true);
    expect(words.canReadWords(65535, 2)).toBe(false);
    expect(words.canReadBits(65535, 1)).toBe(true);
    expect(words.canWriteBits(65535, 1)).toBe(true);
    expect(words.canReadBits(65535, 2), 'coil 65536 would be bit 0 of cell 4096').toBe(false);
    expect(words.canWriteBits(65535, 2)).toBe(false);
    expect(words.canReadBits(65520, 17)).toBe(false);
    expect(words.defines(65535, 'bits')).toBe(true);
    expect(words.refused({ address: 65535, quantity: 2 }, 'bits', false)).toEqual({
      address: 65536,
      quantity: 1,
      why: 'not defined',
    });
    const bits = tableOf(large, { bitsPerCell: 1 });
    expect(bits.canReadBits(65535, 1)).toBe(true);
    expect(bits.canReadBits(65535, 2)).toBe(false);
  });
});

describe('bits in registers', () => {
  it('coil 16n+k is bit k of register n, least significant first', () => {
    const image = imageOf(3, [{ address: 0, value: 0x8001 }, { address: 1, value: 0x0002 }, { address: 2 }]);
    const bits = tableOf(image).readBits(0, 48);
    expect(bits.flatMap((bit, address) => (bit ? [address] : []))).toEqual([0, 15, 17]);
  });

  it('are known as they were last computed, in a part of an image, too', () => {
    const image = imageOf(4, [...run(0, 2), { address: 2, value: 0x8001 }, { address: 3, value: 2 }]);
    const part = tableOf(image, { base: 2, size: 2 });
    expect(
      Array.from({ length: 32 }, (_, bit) => part.bitAt(bit)).flatMap((bit, i) => (bit ? [i] : [])),
    ).toEqual([0, 15, 17]);
  });

  it('writing coils changes these bits and no other, and is seen in the holding registers', () => {
    fc.assert(
      fc.property(
        fc.nat(63),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 64 }),
        fc.boolean(),
        (address, bits, set) => {
          const image = imageOf(8, run(0, 8, { value: set ? 0xffff : 0 }));
          const table = tableOf(image);
          table.writeBits(address, bits);
          const expected = Array.from({ length: 128 }, (_, bit) => bits[bit - address] ?? set);
          expect(table.readBits(0, 128)).toEqual(expected);
          const words = Array.from({ length: 8 }, (_, cell) =>
            expected.slice(16 * cell, 16 * cell + 16).reduce((word, bit, k) => word + (bit ? 2 ** k : 0), 0),
          );
          expect(table.readWords(0, 8)).toEqual(words);
          expect(table.readBits(address, bits.length)).toEqual(bits);
        },
      ),
    );
  });

  it('one to a cell, are cells of their own', () => {
    const image = imageOf(20, run(0, 20, { type: 'bit' }));
    const table = tableOf(image, { bitsPerCell: 1 });
    table.writeBits(17, [true, false, true]);
    table.writeBits(18, [true]);
    expect(wordsOf(image)).toEqual([...Array<number>(17).fill(0), 1, 1, 1]);
    expect(table.readBits(15, 5)).toEqual([false, false, true, true, true]);
    expect(table.canReadBits(19, 1)).toBe(true);
    expect(table.canReadBits(19, 2)).toBe(false);
  });
});

describe('blocks that lie behind each other in one list of cells', () => {
  /** Coils, discrete inputs, input registers, holding registers, as `shared blocks: false` has them. */
  const blocks = () => {
    const image = imageOf(12, run(0, 12, { value: 0xffff }));
    return {
      image,
      coils: tableOf(image, { base: 0, size: 2 }),
      discrete: tableOf(image, { base: 2, size: 3 }),
      input: tableOf(image, { base: 5, size: 3 }),
      holding: tableOf(image, { base: 8, size: 4 }),
    };
  };

  it('no coil reaches a cell of the next block', () => {
    const { coils, image } = blocks();
    expect(coils.canWriteBits(0, 32)).toBe(true);
    expect(coils.canWriteBits(31, 1)).toBe(true);
    for (const [address, quantity] of [
      [31, 2],
      [32, 1],
      [0, 33],
      [16, 17],
      [65535, 1],
    ] as const) {
      expect(coils.canReadBits(address, quantity), `${address}, ${quantity}`).toBe(false);
      expect(coils.canWriteBits(address, quantity), `${address}, ${quantity}`).toBe(false);
    }
    coils.writeBits(0, Array<boolean>(32).fill(false));
    expect(wordsOf(image)).toEqual([0, 0, ...Array<number>(10).fill(0xffff)]);
  });

  it('address 0 of each block is the first cell of that block, its last address the last one', () => {
    const { image, discrete, input, holding } = blocks();
    holding.writeWords(0, [1, 2, 3, 4]);
    input.writeWords(0, [5, 6, 7]);
    discrete.writeBits(4, [false, false, false, false]);
    expect(wordsOf(image)).toEqual([0xffff, 0xffff, 0xff0f, 0xffff, 0xffff, 5, 6, 7, 1, 2, 3, 4]);
    expect(holding.readWords(3, 1)).toEqual([4]);
    expect(discrete.readBits(3, 2)).toEqual([true, false]);
    expect([holding.canReadWords(4, 1), input.canReadWords(2, 2), input.canReadWords(3, 1)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('counts accesses at the cells of the block', () => {
    const { image, input, discrete } = blocks();
    input.readWords(1, 2);
    discrete.readBits(16, 1);
    const counts = Array.from({ length: 12 }, (_, cell) => image.reads.get(cell));
    expect(counts).toEqual([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0]);
  });
});

describe('counters', () => {
  const counts = (read: boolean, act: (table: ReturnType<typeof tableOf>) => void): number[] => {
    const image = imageOf(4, run(0, 4));
    act(tableOf(image));
    return [0, 1, 2, 3].map((cell) => (read ? image.reads : image.writes).get(cell));
  };

  it('count each register of a request once, whatever number of its bits is touched', () => {
    expect(counts(true, (table) => table.readWords(1, 2))).toEqual([0, 1, 1, 0]);
    expect(counts(true, (table) => table.readBits(3, 5))).toEqual([1, 0, 0, 0]);
    expect(counts(true, (table) => table.readBits(0, 16))).toEqual([1, 0, 0, 0]);
    expect(counts(true, (table) => table.readBits(15, 34))).toEqual([1, 1, 1, 1]);
    expect(counts(false, (table) => table.writeWords(1, [1, 2]))).toEqual([0, 1, 1, 0]);
    expect(counts(false, (table) => table.writeBits(3, [true, true, false]))).toEqual([1, 0, 0, 0]);
    expect(counts(false, (table) => table.writeBits(15, Array<boolean>(18).fill(true)))).toEqual([
      1, 1, 1, 0,
    ]);
    expect(counts(false, (table) => table.writeWord(2, table.maskedWord(2, 0, 0)))).toEqual([0, 0, 1, 0]);
  });

  it('are those of pymodbus where a device is to count as it does', () => {
    const pymodbus = (act: (table: ReturnType<typeof tableOf>) => void) => {
      const image = imageOf(4, run(0, 4));
      act(tableOf(image, { countsAsPymodbus: true }));
      return [0, 1, 2, 3].map((cell) => [image.reads.get(cell), image.writes.get(cell)]);
    };
    const untouched = [0, 0];
    const writtenAndRead = [1, 1];
    expect(pymodbus((table) => table.writeWord(2, 5))).toEqual([
      untouched,
      untouched,
      writtenAndRead,
      untouched,
    ]);
    expect(pymodbus((table) => table.writeWord(2, table.maskedWord(2, 0, 0)))[2]).toEqual(writtenAndRead);
    expect(pymodbus((table) => table.writeBit(35, true))[2]).toEqual(writtenAndRead);
    expect(pymodbus((table) => table.writeBits(30, [true, true, false, true, true]))).toEqual([
      untouched,
      [0, 2],
      [0, 3],
      untouched,
    ]);
    expect(pymodbus((table) => table.writeWords(1, [1, 2]))).toEqual([untouched, [0, 1], [0, 1], untouched]);
  });

  it('do not count what people do beside the protocol, nor questions about access', () => {
    for (const read of [true, false]) {
      const silent = counts(read, (table) => {
        table.canReadWords(0, 4);
        table.canWriteBits(0, 64);
        table.bitAt(17);
        table.window.image.setWord(0, 1);
        table.window.image.setValue({ address: 1, cells: 1, type: 'uint16' }, 5);
        table.window.image.valueAt({ address: 1, cells: 1, type: 'uint16' });
      });
      expect(silent).toEqual([0, 0, 0, 0]);
    }
  });
});

describe('the mask of function 22', () => {
  it('keeps the bits of the AND mask and takes the others from the OR mask', () => {
    const word = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(word, word, word, (value, andMask, orMask) => {
        const image = imageOf(1, [{ address: 0, value }]);
        const table = tableOf(image);
        table.writeWord(0, table.maskedWord(0, andMask, orMask));
        for (let bit = 0; bit < 16; bit++) {
          const from = (andMask >>> bit) & 1 ? value : orMask;
          expect((image.wordAt(0) >>> bit) & 1, `bit ${bit}`).toBe((from >>> bit) & 1);
        }
      }),
    );
  });
});

describe('registers and bits that are defined while the device runs', () => {
  it('hold 0, and those that are there already keep what they have', () => {
    const image = imageOf(4, [
      { address: 1, value: 7, writable: false },
      { address: 2, value: 8 },
    ]);
    const table = tableOf(image);
    const before = image.changes;
    table.define([{ address: 0, quantity: 6 }], true);
    expect(table.readWords(0, 6)).toEqual([0, 7, 8, 0, 0, 0]);
    expect([0, 1, 2, 3, 4, 5].map((address) => table.canWriteWords(address, 1))).toEqual([
      true,
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(table.canReadWords(0, 7)).toBe(false);
    expect([0, 3].map((cell) => image.typeAt(cell))).toEqual(['uint16', 'uint16']);
    expect(image.changes).toBe(before + 1);
  });

  it('are as configured from then on, also after a reset, and the rest stays changed', () => {
    const image = imageOf(2, run(0, 2, { value: 5 }));
    const table = tableOf(image);
    table.writeWords(0, [6, 5]);
    table.define([{ address: 3, quantity: 1 }], false);
    table.define([{ address: 2, quantity: 1 }], true);
    table.writeWords(2, [9]);
    expect(table.readWords(0, 4)).toEqual([6, 5, 9, 0]);
    expect([0, 1, 2, 3].map((cell) => image.isAsConfigured(cell, 1))).toEqual([false, true, false, true]);
    expect(table.canWriteWords(3, 1)).toBe(false);
    image.reset();
    expect(table.readWords(0, 4)).toEqual([5, 5, 0, 0]);
    expect(table.canWriteWords(2, 1)).toBe(true);
  });

  it('are bits of their own in a table of bits, and do not make a table smaller', () => {
    const image = imageOf(10, run(0, 1, { type: 'bit', value: 1 }));
    const table = tableOf(image, { bitsPerCell: 1 });
    table.define([{ address: 1, quantity: 2 }], true);
    table.writeBits(1, [false, true]);
    expect(table.readBits(0, 3)).toEqual([true, false, true]);
    expect(image.typeAt(2)).toBe('bit');
    expect(table.window.size).toBe(10);
  });

  it('are in a snapshot, whose layout has them, too', () => {
    const image = imageOf(2, run(0, 2, { value: 5 }));
    tableOf(image).define([{ address: 2, quantity: 1 }], true);
    image.setWord(2, 9);
    const { layout, words, meta } = image.snapshot();
    expect([layout.size, [...layout.words], [...words], meta.length]).toEqual([3, [5, 5, 0], [5, 5, 9], 3]);
  });
});

describe('a table that follows a real device', () => {
  it('takes over registers where they are defined, and nobody has written or read there', () => {
    const image = imageOf(9, [...run(2, 2, { value: 7 }), { address: 5, value: 7, writable: false }]);
    const table = tableOf(image, { base: 1, size: 8 });
    table.writer = { by: 'line', line: 'lan' };
    const written: number[] = [];
    image.live = {
      refresh: () => {},
      changing: () => false,
      changed: () => {},
      written: (address) => written.push(address),
      isFull: () => false,
    };
    table.follow(0, [10, 11, 12, 13, 14, 15], 'words');
    expect(wordsOf(image)).toEqual([0, 0, 11, 12, 0, 14, 0, 0, 0]);
    expect(written).toEqual([]);
    expect([2, 3, 5].map((cell) => [image.reads.get(cell), image.writes.get(cell)])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(image.lastWrites.get(2)).toBeUndefined();
    table.follow(1, [1], 'words');
    expect(image.wordAt(2)).toBe(1);
  });

  it('takes over bits where they are defined, also those that share a register', () => {
    const coils = imageOf(4, run(1, 2, { type: 'bit', value: 1 }));
    tableOf(coils, { bitsPerCell: 1 }).follow(0, [1, 0, 1, 1], 'bits');
    expect(wordsOf(coils)).toEqual([0, 0, 1, 0]);
    const shared = imageOf(2, [{ address: 0, value: 0x8001 }]);
    tableOf(shared).follow(14, [1, 0, 1], 'bits');
    expect(wordsOf(shared)).toEqual([0x4001, 0]);
  });

  it('changes a value of several registers once', () => {
    const image = imageOf(4, [{ address: 0, type: 'uint32' }, ...run(2, 2)]);
    const changed: [number, number][] = [];
    image.live = {
      refresh: () => {},
      changing: () => false,
      changed: (address, count) => changed.push([address, count]),
      written: () => {},
      isFull: () => false,
    };
    tableOf(image).follow(0, [1, 2, 3, 4], 'words');
    expect(changed).toEqual([[0, 4]]);
  });
});
