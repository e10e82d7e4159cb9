import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkDecoder } from '../../../../src/modbus/transport/port/real-port-run.js';

/** What the decoder made of chunks: good bytes as numbers, damaged characters as 'x'. */
function decode(...chunks: readonly (readonly number[])[]): (number | 'x')[] {
  const decoder = createMarkDecoder();
  const found: (number | 'x')[] = [];
  for (const chunk of chunks) {
    for (const received of decoder.push(Uint8Array.from(chunk))) {
      if (received.kind === 'bytes') found.push(...received.bytes);
      else found.push(...Array.from(received.bytes, () => 'x' as const));
    }
  }
  return found;
}

/** What the line discipline makes of them: termios(3), PARMRK. */
const encode = (characters: readonly (number | { damaged: number })[]): number[] =>
  characters.flatMap((character) => {
    if (typeof character !== 'number') return [0xff, 0, character.damaged];
    return character === 0xff ? [0xff, 0xff] : [character];
  });

function cut<Item>(items: readonly Item[], places: readonly number[]): Item[][] {
  const ends = [...places.map((place) => place % (items.length + 1)), items.length].sort((a, b) => a - b);
  return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end));
}

describe('marks for damaged characters', () => {
  const table: [string, number[][], (number | 'x')[]][] = [
    ['plain bytes', [[1, 2, 3]], [1, 2, 3]],
    ['a good ff', [[0xff, 0xff]], [0xff]],
    ['a good ff and a good 00', [[0xff, 0xff, 0]], [0xff, 0]],
    ['two good ff', [[0xff, 0xff, 0xff, 0xff]], [0xff, 0xff]],
    ['a damaged 41', [[0xff, 0, 0x41]], ['x']],
    ['a damaged ff', [[0xff, 0, 0xff]], ['x']],
    ['a damaged ff before a good ff', [[0xff, 0, 0xff, 0xff, 0xff]], ['x', 0xff]],
    ['a break', [[0xff, 0, 0]], ['x']],
    ['a damaged character between others', [[1, 0xff, 0, 2, 3]], [1, 'x', 3]],
    [
      'damage cut after the mark',
      [
        [1, 0xff],
        [0, 2, 3],
      ],
      [1, 'x', 3],
    ],
    [
      'damage cut before its character',
      [
        [1, 0xff, 0],
        [0xff, 3],
      ],
      [1, 'x', 3],
    ],
    ['a good ff cut in two', [[0xff], [0xff, 5]], [0xff, 5]],
    ['marks that somebody switched off', [[0xff, 5], [0xff], [6]], [0xff, 5, 0xff, 6]],
    ['an empty chunk', [[]], []],
  ];
  it.each(table)('%s', (_, chunks, expected) => {
    expect(decode(...chunks)).toEqual(expected);
  });

  it('are joined when they follow each other, and pieces are never empty', () => {
    const pieces = createMarkDecoder().push(Uint8Array.from([7, 0xff, 0, 1, 0xff, 0, 2, 0xff, 0xff, 8]));
    expect(pieces).toEqual([
      { kind: 'bytes', bytes: Uint8Array.of(7) },
      { kind: 'damaged', bytes: Uint8Array.of(1, 2) },
      { kind: 'bytes', bytes: Uint8Array.of(0xff, 8) },
    ]);
  });

  it('come out as they went in, wherever they are cut', () => {
    const byte = fc.oneof(fc.constantFrom(0, 0xff), fc.integer({ min: 0, max: 255 }));
    const character = fc.oneof(
      { weight: 4, arbitrary: byte },
      byte.map((damaged) => ({ damaged })),
    );
    fc.assert(
      fc.property(fc.array(character), fc.array(fc.nat(), { maxLength: 8 }), (characters, places) => {
        const expected = characters.map((one) => (typeof one === 'number' ? one : 'x'));
        expect(decode(...cut(encode(characters), places))).toEqual(expected);
      }),
    );
  });
});
