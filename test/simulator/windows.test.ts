import { win32 } from 'node:path';
import { expect, it } from 'vitest';
import { platformOf } from '../../src/common/platform.js';
import { forbiddenPort } from '../../src/modbus/transport/socket/listen.js';
import { isIn } from '../../src/simulator/commands/remote-files.js';
import { whyNoPort } from '../../src/simulator/ports.js';

it.each([
  ['C:\\bench', true],
  ['C:\\bench\\certs\\key.pem', true],
  ['C:\\bench\\..name', true],
  ['C:\\bench2\\key.pem', false],
  ['C:\\', false],
  ['C:\\Windows\\key.pem', false],
  ['D:\\bench\\key.pem', false],
  ['\\\\server\\bench\\key.pem', false],
])('on Windows, a client of REST that may use C:\\bench has %s: %s', (path, may) => {
  expect(isIn('C:\\bench', path, win32)).toBe(may);
});

it('on Windows, REST opens ports by their names alone', async () => {
  const windows = platformOf('win32');
  expect(await whyNoPort('COM10', '/', windows)).toBeUndefined();
  expect(await whyNoPort('C:\\secret.txt', '/', windows)).toContain('such as COM5');
});

it('a port that Windows forbids says how to see which are reserved', () => {
  expect(forbiddenPort(platformOf('win32'))).toContain('excludedportrange');
  expect(forbiddenPort(platformOf('linux'))).toContain('CAP_NET_BIND_SERVICE');
});
