import { describe, expect, it } from 'vitest';
import { Files } from '../../src/device/files.js';
import { ask, deviceOf } from './build.js';

const part = (file: number, record: number, length: number, data = ''): string =>
  `06${[file, record, length].map((word) => word.toString(16).padStart(4, '0')).join('')}${data}`;
const bytes = (count: number): string => count.toString(16).padStart(2, '0');
const read = (...parts: string[]): string => `14${bytes(parts.join('').length / 2)}${parts.join('')}`;
const write = (...parts: string[]): string => `15${bytes(parts.join('').length / 2)}${parts.join('')}`;

describe('files that nobody defined', () => {
  it('are 1 to 10 with 10,000 records of 0, and can be written', () => {
    const device = deviceOf({}, { size: 1 });
    for (const file of [1, 10]) {
      expect(ask(device, read(part(file, 0, 1), part(file, 9999, 1)))).toBe('1408030600000306' + '0000');
      expect(ask(device, write(part(file, 9999, 1, 'abcd')))).toBe(write(part(file, 9999, 1, 'abcd')));
      expect(ask(device, read(part(file, 9998, 2)))).toBe('140605060000abcd');
    }
    for (const file of [0, 11, 65535]) {
      expect(ask(device, read(part(file, 0, 1))), `file ${file}`).toBe('9402');
      expect(ask(device, write(part(file, 0, 1, '0001'))), `file ${file}`).toBe('9502');
    }
    for (const [record, length] of [
      [9999, 2],
      [10000, 1],
      [65535, 1],
    ] as const) {
      expect(ask(device, read(part(1, record, length)))).toBe('9402');
      expect(ask(device, write(part(1, record, length, '0001'.repeat(length))))).toBe('9502');
    }
  });

  it('take no memory until they are written: 100,000 of them', () => {
    const before = process.memoryUsage();
    const all = Array.from({ length: 10_000 }, () => new Files());
    for (const files of all) files.read({ referenceType: 6, file: 1, record: 9999, length: 1 });
    const after = process.memoryUsage();
    // 10 files of 20 kB each would be 2 GB
    expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(50e6);
    expect(all).toHaveLength(10_000);
  });

  it('are files of the device, not of all devices', () => {
    const [one, other] = [deviceOf({}, { size: 1 }), deviceOf({}, { size: 1 })];
    ask(one, write(part(1, 0, 1, 'abcd')));
    expect(ask(one, read(part(1, 0, 1)))).toBe('14040306abcd');
    expect(ask(other, read(part(1, 0, 1)))).toBe('140403060000');
  });
});

describe('files that were defined', () => {
  const defined = () => {
    const files = new Files(
      new Map([
        [3, { records: 5, writable: true, values: [1, 2, 3] }],
        [65535, { records: 1, writable: false, values: [9] }],
      ]),
    );
    return deviceOf({}, { size: 1, files });
  };

  it('have their values, then zeros, and no records beyond', () => {
    const device = defined();
    expect(ask(device, read(part(3, 0, 5)))).toBe('140c0b06' + '00010002000300000000');
    expect(ask(device, read(part(3, 4, 2)))).toBe('9402');
    expect(ask(device, read(part(65535, 0, 1)))).toBe('140403060009');
    expect(ask(device, read(part(1, 0, 1)))).toBe('9402');
  });

  it('keep what is not written', () => {
    const device = defined();
    ask(device, write(part(3, 1, 1, 'abcd')));
    expect(ask(device, read(part(3, 0, 5)))).toBe('140c0b06' + '0001abcd000300000000');
  });

  it('are written part by part, the later over the earlier', () => {
    const device = defined();
    ask(device, write(part(3, 0, 2, 'aaaabbbb'), part(3, 1, 2, 'ccccdddd')));
    expect(ask(device, read(part(3, 0, 4)))).toBe('140a0906' + 'aaaaccccdddd0000');
  });

  it('are not written at all when one part can not be', () => {
    const device = defined();
    for (const bad of [part(65535, 0, 1, '0001'), part(3, 5, 1, '0001'), part(9, 0, 1, '0001')]) {
      expect(ask(device, write(part(3, 0, 1, 'eeee'), bad))).toBe('9502');
      expect(ask(device, write(bad, part(3, 0, 1, 'eeee')))).toBe('9502');
    }
    expect(ask(device, read(part(3, 0, 1)))).toBe('140403060001');
  });

  it('read 35 parts in one request', () => {
    const device = defined();
    const all = Array.from({ length: 35 }, (_, i) => part(3, i % 3, 1));
    const expected = all.map((_, i) => `0306000${1 + (i % 3)}`).join('');
    expect(ask(device, read(...all))).toBe(`148c${expected}`);
  });
});

describe('FIFO queues', () => {
  const values = (length: number) => Array.from({ length }, (_, i) => i);

  it('are empty, at every address, where none is defined', () => {
    const device = deviceOf({}, { size: 1 });
    for (const address of ['0000', '04de', 'ffff']) expect(ask(device, `18${address}`)).toBe('1800020000');
  });

  it('hold up to 31 values, and answer 03 with more', () => {
    const queues = new Map([0, 1, 31, 32, 65535].map((length) => [length, values(length)]));
    const device = deviceOf({}, { size: 1, queues });
    expect(ask(device, '18 0000')).toBe('1800020000');
    expect(ask(device, '18 0001')).toBe('18000400010000');
    const full = values(31).map((value) => value.toString(16).padStart(4, '0'));
    expect(ask(device, '18 001F')).toBe(`180040001f${full.join('')}`);
    expect(ask(device, '18 0020')).toBe('9803');
    expect(ask(device, '18 FFFF')).toBe('9803');
  });

  it('are not there, where others are defined', () => {
    const device = deviceOf({}, { size: 1, queues: new Map([[1, [7]]]) });
    expect(ask(device, '18 0002')).toBe('9802');
  });

  it('are read and not emptied', () => {
    const device = deviceOf({}, { size: 1, queues: new Map([[1, [7]]]) });
    expect([ask(device, '18 0001'), ask(device, '18 0001')]).toEqual(Array(2).fill('18000400010007'));
  });
});
