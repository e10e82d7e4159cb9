import { expect, it } from 'vitest';
import { platformOf } from '../../src/common/platform.js';
import { fileFindings } from '../../src/common/schema/findings.js';
import { onFreePorts } from '../../src/document/free-ports.js';
import {
  checkFile,
  demoConfiguration,
  demoNote,
  loadNative,
  loadNativeFile,
} from '../../src/document/load.js';
import { loaded, scratchFiles } from './helpers.js';

const WINDOWS = platformOf('win32');
const scratch = scratchFiles();

const BENCH = `devices:
  meter: {registers: {holding: [{address: 0, value: 1}]}}
lines:
  bus:
    serial: {path: virtual, parity: none}
    units: {1: meter}
  com: {serial: {path: COM10}, units: {1: meter}}
  quiet: {serial: {path: COM11}, mode: monitor}
  chars: {serial: {path: COM12}, framing: ascii, start: waiting, units: {1: meter}}
`;

it('a virtual line in a file for Windows is an error with its line, which says what to write instead', () => {
  const file = scratch('bench.yaml', BENCH);
  const problem = {
    line: 5,
    path: 'lines.bus.serial.path',
    message:
      'virtual lines need Linux, and this is Windows: name a serial port (path: COM5; com0com makes a pair of ports), or use RTU over TCP with tcp: {port: 5021} and framing: rtu',
  };
  for (const result of [checkFile(file, {}, WINDOWS), loadNativeFile(file, {}, WINDOWS)])
    expect(result).toMatchObject({ ok: false, problems: [problem] });
  expect(checkFile(file, {}, platformOf('linux'))).toMatchObject({ ok: true });
});

it.each<[string, string, number, string]>([
  [
    '{path: com5}',
    'path',
    4,
    'is not the name of a serial port, expected one such as COM5; modbus-sim ports lists them; got com5',
  ],
  [
    '{path: /dev/ttyUSB0}',
    'path',
    4,
    'is not the name of a serial port, expected one such as COM5; modbus-sim ports lists them; got /dev/ttyUSB0',
  ],
  [
    '{path: COM5, rs485: {mode: rts}}',
    'rs485',
    4,
    'needs Linux, and this is Windows; use an adapter that switches direction on its own',
  ],
  [
    '{path: COM5, rs485: {mode: kernel}}',
    'rs485',
    4,
    'needs Linux, and this is Windows; use an adapter that switches direction on its own',
  ],
  ['{path: COM5, parity: even, parityMarks: true}', 'parityMarks', 4, 'needs Linux, and this is Windows'],
])(
  'a file for Windows with serial: %s is refused by check as it is by the start',
  (serial, key, line, message) => {
    const file = scratch(
      'unfit.yaml',
      `devices:\n  meter: {registers: {holding: [{address: 0, value: 1}]}}\nlines:\n  bus: {serial: ${serial}, units: {1: meter}}\n`,
    );
    const problem = { line, path: `lines.bus.serial.${key}`, message };
    for (const result of [checkFile(file, {}, WINDOWS), loadNativeFile(file, {}, WINDOWS)])
      expect(result).toMatchObject({ ok: false, problems: [problem] });
    expect(checkFile(file, {}, platformOf('linux'))).toMatchObject({ ok: true });
  },
);

it('adapters that switch by themselves are fine on Windows', () => {
  const file = scratch('auto.yaml', `${BENCH.replace('path: virtual', 'path: COM5, rs485: {mode: auto}')}`);
  expect(checkFile(file, {}, WINDOWS)).toMatchObject({ ok: true });
});

it('the demo on Windows serves RTU over TCP where it has a virtual line on Linux, and says so', () => {
  const findings = fileFindings();
  const { lines } = demoConfiguration({}, findings, WINDOWS);
  expect(findings.listed).toEqual([]);
  expect(lines).toMatchObject([
    { kind: 'tcp', name: 'demo', framing: 'rtu', host: '127.0.0.1', port: 5021 },
    { kind: 'tcp', name: 'lan', framing: 'socket', host: '127.0.0.1', port: 5020 },
  ]);
  expect(demoNote(WINDOWS, 'http://127.0.0.1:8080')).toContain('console: http://127.0.0.1:8080/\n');
  expect(demoNote(platformOf('linux'), 'http://127.0.0.1:8080')).toBeUndefined();
});

it('on free ports of Windows, serial lines that serve become sockets with the same framing', () => {
  const configuration = loaded(loadNative(BENCH, '.'));
  const { lines } = onFreePorts(configuration, undefined, WINDOWS);
  expect(lines).toMatchObject([
    { kind: 'tcp', name: 'bus', framing: 'rtu', host: '127.0.0.1', port: 0 },
    { kind: 'tcp', name: 'com', framing: 'rtu', host: '127.0.0.1', port: 0 },
    { kind: 'serial', name: 'quiet', path: 'virtual' },
    { kind: 'tcp', name: 'chars', framing: 'ascii', start: 'waiting', port: 0 },
  ]);
  expect(lines[1]?.units).toEqual(configuration.lines[1]?.units);
});
