import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { LineDefinition } from '../../src/config/configuration.js';
import { contend } from '../../src/simulator/contention.js';
import { nativeSetup } from '../support/configuration.js';

function line(settings: object): LineDefinition {
  const { lines } = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
    lines: { bench: { units: { 1: 'meter' }, ...settings } },
  });
  return lines[0] as LineDefinition;
}

const tcp = (port: number, host = '127.0.0.1') => line({ tcp: { host, port } });
const udp = (port: number) => line({ udp: { port } });
const serial = (path: string) => line({ serial: { path } });
const virtual = (link?: string) => line({ serial: { path: 'virtual', ...(link && { link }) } });

it.each([
  ['the same TCP port', tcp(502), '127.0.0.1:502', tcp(502)],
  ['the same TCP port at all addresses', tcp(502), '127.0.0.1:502', tcp(502, '0.0.0.0')],
  ['the same TCP port of a name', tcp(502), '127.0.0.1:502', tcp(502, 'localhost')],
  ['TLS on the port of TCP', tcp(502), '127.0.0.1:502', line({ tls: { port: 502, cert: 'a', key: 'b' } })],
  ['the port that the system had chosen', tcp(0), '[::1]:40123', tcp(40123)],
  ['the same UDP port', udp(502), '127.0.0.1:502', udp(502)],
  ['the same serial port', serial('/dev/ttyUSB9'), '/dev/ttyUSB9', serial('/dev/ttyUSB9')],
  ['the same link', virtual('/tmp/x'), '/dev/pts/9', virtual('/tmp/x')],
  ['the usual link', virtual(), '/dev/pts/9', virtual(join(tmpdir(), 'modbus-sim/bench'))],
])('%s can not be opened twice', (_, open, place, next) => {
  expect(contend(open, place, next)).toBe(true);
});

it.each([
  ['another TCP port', tcp(502), '127.0.0.1:502', tcp(503)],
  ['the same port of another address', tcp(502), '127.0.0.1:502', tcp(502, '127.0.0.2')],
  ['any free port', tcp(0), '127.0.0.1:40123', tcp(0)],
  ['a UDP port', tcp(502), '127.0.0.1:502', udp(502)],
  ['another serial port', serial('/dev/ttyUSB8'), '/dev/ttyUSB8', serial('/dev/ttyUSB9')],
  ['a serial port', tcp(502), '127.0.0.1:502', serial('/dev/ttyUSB9')],
  ['a socket', serial('/dev/ttyUSB9'), '/dev/ttyUSB9', tcp(502)],
  ['a virtual line', serial('/dev/ttyUSB9'), '/dev/ttyUSB9', virtual()],
  ['another link', virtual('/tmp/x'), '/dev/pts/9', virtual('/tmp/y')],
])('%s can be opened beside', (_, open, place, next) => {
  expect(contend(open, place, next)).toBe(false);
});

it('a serial port is the same one under its stable name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-contention-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'ttyUSB0'), '');
  symlinkSync(join(directory, 'ttyUSB0'), join(directory, 'by-id'));
  const [path, name] = [join(directory, 'ttyUSB0'), join(directory, 'by-id')];
  expect(contend(serial(path), path, serial(name))).toBe(true);
});
