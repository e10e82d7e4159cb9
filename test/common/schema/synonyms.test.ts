import { expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';

it.each([
  ['{address: 0, type: u16}', 'uint16'],
  ['{address: 0, type: int}', 'int16'],
  ['{address: 0, type: float}', 'float32'],
  ['{address: 0, type: double}', 'float64'],
  ['{address: 0, writable: true}', 'write'],
  ['{address: 0, readonly: true}', 'write'],
  ['{register: 0}', 'address'],
  ['{address: 0, endian: little}', 'wordOrder'],
])('a word of manuals and other programs is understood: %s', (entry, meant) => {
  const loaded = loadNative(
    `{devices: {m: {registers: {holding: [${entry}]}}}, lines: {l: {tcp: {}, units: {1: m}}}}`,
    '.',
  );
  expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message).join()).toContain(
    `did you mean "${meant}"?`,
  );
});

it.each([
  ['{serial: {path: virtual, baudrate: 9600}, units: {1: m}}', 'did you mean "baudRate"?'],
  ['{serial: {path: virtual, baudRate: "9600"}, units: {1: m}}', 'got "9600": write it without quotes'],
  ['{serial: {path: virtual, stopBits: "1"}, units: {1: m}}', 'got "1": write it without quotes'],
  ['{serial: {path: virtual, parity: N}, units: {1: m}}', 'did you mean "none"?'],
  ['{serial: {path: virtual}, slave: {1: m}, units: {1: m}}', 'did you mean "units"?'],
  ['{serial: {path: virtual}, timing: {t35: "5"}, units: {1: m}}', 'got "5": write it without quotes'],
  ['{serial: {path: virtual}, units: {0: m}}', '0 is the broadcast'],
])('a line says what is meant: %s', (line, said) => {
  const loaded = loadNative(`{devices: {m: {registers: {coils: [{address: 0}]}}}, lines: {l: ${line}}}`, '.');
  expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message).join()).toContain(said);
});
