import { describe, expect, it } from 'vitest';
import {
  describeKernelMode,
  packRs485,
  parseRs485,
  rs485Difference,
} from '../../../../src/modbus/transport/port/rs485-direction.js';
import type { Rs485Settings } from '../../../../src/modbus/transport/settings.js';
import { rs485 } from './rs485-settings.js';

/** struct serial_rs485: flags, delay before, delay after as little-endian hex; the rest is zero. */
const struct = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(32);
  bytes.set(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  return bytes;
};
const off = struct('');

describe('the structure of the RS-485 mode', () => {
  const table: [string, Partial<Rs485Settings>, string][] = [
    ['nothing but the mode', {}, '03000000 00000000 00000000'],
    ['RTS low while sending', { rtsOnSend: 'low' }, '05000000 00000000 00000000'],
    ['delays', { delayBeforeSend: 1, delayAfterSend: 258 }, '03000000 01000000 02010000'],
    ['part of a millisecond, rounded up', { delayBeforeSend: 0.2 }, '03000000 01000000 00000000'],
    ['a receiver that stays on', { receiveWhileSending: true }, '13000000 00000000 00000000'],
    ['a receiver that goes off', { receiveWhileSending: false }, '03000000 00000000 00000000'],
  ];
  it.each(table)('asks for %s', (_, wanted, hex) => {
    expect(packRs485(rs485('kernel', wanted), off)).toEqual(struct(hex));
  });

  it('keeps a bus termination that the board has switched on, and nothing else', () => {
    const found = struct('ff010000 07000000 07000000');
    expect(packRs485(rs485('kernel'), found)).toEqual(struct('23000000 00000000 00000000'));
  });

  it('is 32 bytes long', () => {
    expect(packRs485(rs485('kernel'), off)).toHaveLength(32);
  });

  it.each([
    ['', 'off'],
    ['02000000', 'off'],
    ['03000000', 'RTS high while sending, 0 ms before and 0 ms after, receiver off meanwhile'],
    [
      '15000000 01000000 64000000',
      'RTS low while sending, 1 ms before and 100 ms after, receiver on meanwhile',
    ],
  ])('%j is %s', (hex, text) => {
    expect(describeKernelMode(parseRs485(struct(hex)))).toBe(text);
  });
});

describe('what a driver made of the RS-485 mode', () => {
  const wanted = rs485('kernel', { delayAfterSend: 1 });

  it('is right when it is what was asked for', () => {
    expect(rs485Difference(wanted, parseRs485(struct('03000000 00000000 01000000')))).toBeUndefined();
  });

  it('is right when the receiver stays on and nobody asked it to go off', () => {
    expect(rs485Difference(wanted, parseRs485(struct('13000000 00000000 01000000')))).toBeUndefined();
  });

  it.each([
    ['is off', wanted, '02000000 00000000 01000000'],
    ['has RTS the other way round', wanted, '05000000 00000000 01000000'],
    ['has no delays', wanted, '03000000'],
    ['cut a delay to 100 ms', { ...wanted, delayAfterSend: 500 }, '03000000 00000000 64000000'],
    ['rounded a delay', { ...wanted, delayAfterSend: 0.5 }, '03000000 00000000 01000000'],
    ['leaves the receiver on', { ...wanted, receiveWhileSending: false }, '13000000 00000000 01000000'],
    ['leaves the receiver off', { ...wanted, receiveWhileSending: true }, '03000000 00000000 01000000'],
  ] as const)('is wrong when it %s', (_, settings, hex) => {
    expect(rs485Difference(settings, parseRs485(struct(hex)))).toBeDefined();
  });

  it('is told beside what was wanted', () => {
    expect(rs485Difference(wanted, parseRs485(struct('')))).toEqual({
      wanted: 'RTS high while sending, 0 ms before and 1 ms after, receiver off meanwhile',
      found: 'off',
    });
  });
});
