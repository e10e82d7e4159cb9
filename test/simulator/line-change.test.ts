import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { LineDefinition } from '../../src/document/configuration.js';
import { realPathOf } from '../../src/modbus/transport/port/adapter.js';
import { type WayOfChange, wayOfChange } from '../../src/simulator/line-change.js';
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

/** @param openPort where the system chose the port of a socket */
function way(now: LineDefinition, next: LineDefinition, openPort?: number): WayOfChange {
  return wayOfChange(now, next, openPort, (path) => realPathOf(path) ?? path);
}

it.each<[string, LineDefinition, LineDefinition]>([
  ['nothing but units', tcp(502), line({ tcp: { port: 502 }, units: { 2: 'meter' } })],
  [
    'nothing but units of a serial line',
    virtual(),
    line({ serial: { path: 'virtual' }, units: { 2: 'meter' } }),
  ],
  ['what a missing unit gets', tcp(502), line({ tcp: { port: 502 }, missingUnit: 'silence' })],
])('%s changes while replies under way go on', (_, now, next) => {
  expect(way(now, next)).toBe('keep');
});

it.each<[string, LineDefinition, LineDefinition]>([
  [
    'times of a serial line',
    serial('/dev/ttyUSB9'),
    line({ serial: { path: '/dev/ttyUSB9' }, timing: { gap: 90 } }),
  ],
  ['the framing of a virtual line', virtual(), line({ serial: { path: 'virtual' }, framing: 'ascii' })],
  ['the pace of a virtual line', virtual(), line({ serial: { path: 'virtual', pacing: { chunk: 8 } } })],
  ['the baud rate of a virtual line', virtual(), line({ serial: { path: 'virtual', baudRate: 9600 } })],
])('%s changes while the port stays open', (_, now, next) => {
  expect(way(now, next)).toBe('adjust');
});

it.each<[string, LineDefinition, LineDefinition]>([
  ['the baud rate', serial('/dev/ttyUSB9'), line({ serial: { path: '/dev/ttyUSB9', baudRate: 9600 } })],
  [
    'who switches the driver',
    serial('/dev/ttyUSB9'),
    line({ serial: { path: '/dev/ttyUSB9', rs485: { mode: 'kernel' } } }),
  ],
  ['the way to say the same link', virtual(), virtual(join(tmpdir(), 'modbus-sim/bench'))],
])('%s changes when the port was closed', (_, now, next) => {
  expect(way(now, next)).toBe('replace');
});

it.each<[string, LineDefinition, LineDefinition, number?]>([
  ['the same TCP port at all addresses', tcp(502), tcp(502, '0.0.0.0')],
  ['the same TCP port of a name', tcp(502), tcp(502, 'localhost')],
  ['TLS on the port of TCP', tcp(502), line({ tls: { port: 502, cert: 'a', key: 'b' } })],
  ['the port that the system had chosen', tcp(0), tcp(40123), 40123],
  ['another framing on the same UDP port', udp(502), line({ udp: { port: 502 }, framing: 'rtu' })],
])('%s may be in use by the line itself', (_, now, next, openPort) => {
  expect(way(now, next, openPort)).toBe('beside or replace');
});

it.each<[string, LineDefinition, LineDefinition, number?]>([
  ['another TCP port', tcp(502), tcp(503)],
  ['the same port of another address', tcp(502), tcp(502, '127.0.0.2')],
  ['any free port', tcp(502), tcp(0), 502],
  ['a UDP port', tcp(502), udp(502)],
  ['another serial port', serial('/dev/ttyUSB8'), serial('/dev/ttyUSB9')],
  ['a serial port', tcp(502), serial('/dev/ttyUSB9')],
  ['a socket', serial('/dev/ttyUSB9'), tcp(502)],
  ['a virtual line', serial('/dev/ttyUSB9'), virtual()],
  ['another link', virtual('/tmp/x'), virtual('/tmp/y')],
])('%s is opened beside', (_, now, next, openPort) => {
  expect(way(now, next, openPort)).toBe('beside');
});

it('a serial port is the same one under its stable name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-change-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'ttyUSB0'), '');
  symlinkSync(join(directory, 'ttyUSB0'), join(directory, 'by-id'));
  expect(way(serial(join(directory, 'ttyUSB0')), serial(join(directory, 'by-id')))).toBe('replace');
});
