import { describe, expect, it } from 'vitest';
import type { Device } from '../../src/device/device.js';
import { type ExampleContent, SPECIFICATION_EXAMPLES } from '../vectors/application-protocol.js';
import { bytesOf, hexOf } from '../vectors/hex.js';
import { ask, deviceOf } from './build.js';

const isBits = ({ table }: ExampleContent): boolean => table === 'coils' || table === 'discrete';

/** Words as numbers, bits as 0 and 1. */
function cellsOf(content: ExampleContent): number[] {
  const digits = content.data.replaceAll(' ', '');
  const pattern = isBits(content) ? /./g : /.{4}/g;
  return [...digits.matchAll(pattern)].map(([cell]) => Number.parseInt(cell, isBits(content) ? 2 : 16));
}

function deviceWith(contents: readonly ExampleContent[]): Device {
  const entries = (table: string) =>
    contents
      .filter((content) => content.table === table)
      .flatMap((content) => cellsOf(content).map((value, i) => ({ address: content.address + i, value })));
  return deviceOf({
    coils: entries('coils'),
    discrete: entries('discrete'),
    input: entries('input'),
    holding: entries('holding'),
  });
}

describe('the examples of the Application Protocol specification', () => {
  it.each(SPECIFICATION_EXAMPLES)('$clause: $name', ({ before, request, response, after }) => {
    const device = deviceWith(before);
    expect(ask(device, request)).toBe(hexOf(bytesOf(response)));
    for (const content of after) {
      const { image } = device.tables[content.table].window;
      const found = cellsOf(content).map((_, i) => image.wordAt(content.address + i));
      expect(found).toEqual(cellsOf(content));
    }
  });
});
