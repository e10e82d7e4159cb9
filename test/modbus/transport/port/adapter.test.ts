import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Adapter,
  discardGap,
  identifyAdapter,
  outputHold,
  ptyAdapter,
} from '../../../../src/modbus/transport/port/adapter.js';
import { useMachine } from './machine.js';

const { root, file, link, driver, port } = useMachine();

describe('the adapter behind a port', () => {
  it.each([
    ['Raspberry Pi 3 Model B Plus Rev 1.3\0', 10],
    ['Raspberry Pi Zero W Rev 1.1\0', 10],
    ['Raspberry Pi Zero 2 W Rev 1.0\0', 10],
    ['Raspberry Pi Model B Rev 2\0', 10],
    ['Raspberry Pi Compute Module 3 Plus Rev 1.0\0', 10],
    ['Raspberry Pi 4 Model B Rev 1.4\0', 18],
    ['Raspberry Pi 400 Rev 1.0\0', 18],
    ['Raspberry Pi Compute Module 4 Rev 1.1\0', 18],
    ['Raspberry Pi 5 Model B Rev 1.0\0', 18],
    ['Some other board\0', 18],
  ])('is a PL011 on a %s', (model, fifoCharacters) => {
    port('ttyAMA0', 'platform/soc/fe201000.serial', 'uart-pl011', { type: '32\n' });
    file('proc/device-tree/model', model);
    const adapter = identifyAdapter('/dev/ttyAMA0', root());
    expect(adapter).toMatchObject({ kind: 'pl011', fifoCharacters, latencyMs: 0 });
    expect(adapter.name).toBe(`PL011 (${model.replace('\0', '')})`);
  });

  it('is found below the devices that the serial core of Linux 6.5 puts between', () => {
    const uart = 'platform/soc/3f201000.serial';
    driver(uart, 'uart-pl011');
    driver(`${uart}/3f201000.serial:0`, 'ctrl');
    port('ttyAMA0', `${uart}/3f201000.serial:0/3f201000.serial:0.0`, 'port');
    expect(identifyAdapter('/dev/ttyAMA0', root())).toMatchObject({ kind: 'pl011', fifoCharacters: 18 });
  });

  it('is a mini UART, which has no parity', () => {
    port('ttyS0', 'platform/soc/3f215040.serial', 'bcm2835-aux-uart', { type: '3\n' });
    const adapter = identifyAdapter('/dev/ttyS0', root());
    expect(adapter).toMatchObject({ kind: 'mini-uart', fifoCharacters: 2, latencyMs: 0 });
    expect(adapter.hint).toContain('no parity');
  });

  it.each<[Record<string, string>, number]>([
    [{ type: '4\n' }, 12],
    [{ type: '4\n', rx_trig_bytes: '8\n' }, 12],
    [{ type: '4\n', rx_trig_bytes: '1\n' }, 5],
    [{ rx_trig_bytes: '14\n' }, 18],
  ])('is a 16550A with %o', (files, fifoCharacters) => {
    port('ttyS0', 'pnp0/00:00', 'serial', files);
    expect(identifyAdapter('/dev/ttyS0', root())).toMatchObject({
      kind: '16550',
      fifoCharacters,
      latencyMs: 0,
    });
  });

  it('is unknown when its UART is older than the 16550A', () => {
    port('ttyS0', 'pnp0/00:00', 'serial', { type: '2\n' });
    expect(identifyAdapter('/dev/ttyS0', root())).toMatchObject({
      kind: 'unknown',
      fifoCharacters: 2,
      latencyMs: 0,
    });
  });

  it.each([
    ['16\n', 16, true],
    ['1\n', 1, false],
    ['', 20, true],
  ])('is an FTDI adapter with latency timer %j', (timer, latencyMs, hinted) => {
    port('ttyUSB0', 'platform/usb/usb1/1-1/1-1:1.0/ttyUSB0', 'ftdi_sio');
    file('sys/devices/platform/usb/usb1/1-1/idVendor', '0403\n');
    if (timer !== '') file('sys/devices/platform/usb/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer', timer);
    const adapter = identifyAdapter('/dev/ttyUSB0', root());
    expect(adapter).toMatchObject({ kind: 'ftdi', fifoCharacters: 2, latencyMs });
    expect(adapter.hint !== undefined).toBe(hinted);
  });

  it('is another USB adapter, found by its stable name', () => {
    port('ttyUSB3', 'platform/usb/usb1/1-2/1-2:1.0/ttyUSB3', 'ch341-uart');
    file('sys/devices/platform/usb/usb1/1-2/idVendor', '1a86\n');
    link('dev/serial/by-id/usb-1a86_USB_Serial-if00-port0', 'dev/ttyUSB3');
    expect(identifyAdapter('/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0', root())).toEqual({
      kind: 'usb',
      name: 'USB adapter (ch341-uart)',
      fifoCharacters: 2,
      latencyMs: 20,
    });
  });

  it('is a pseudo-terminal, behind a link too', () => {
    file('dev/pts/7', '');
    link('meter', 'dev/pts/7');
    expect(identifyAdapter('/dev/pts/7', root())).toBe(ptyAdapter);
    expect(identifyAdapter('/meter', root())).toBe(ptyAdapter);
  });

  it('is unknown where there is no such port, no sysfs or a broken link', () => {
    expect(identifyAdapter('/dev/ttyUSB9', root()).kind).toBe('unknown');
    expect(identifyAdapter('/dev/ttyUSB9', join(root(), 'nowhere')).kind).toBe('unknown');
    expect(identifyAdapter('', root()).kind).toBe('unknown');
  });
});

describe('the discard gap', () => {
  const adapter = (fifoCharacters: number, latencyMs: number): Adapter => ({
    kind: 'unknown',
    name: '',
    fifoCharacters,
    latencyMs,
  });

  it.each([
    ['PL011 of a Pi 4 at 9600 8E1', adapter(18, 0), 1.1458, 4.01, 23.625],
    ['PL011 of a Pi 4 at 9600 8N1', adapter(18, 0), 1.0417, 4.01, 21.75],
    ['PL011 of a Pi 4 at 9600 8E2', adapter(18, 0), 1.25, 4.01, 25.5],
    ['PL011 of a Pi 3 at 19200', adapter(10, 0), 0.5729, 2.005, 8.729],
    ['FTDI at 115200', adapter(2, 16), 0.0955, 1.75, 19.191],
    ['short FIFO at 9600: t3.5 is longer', adapter(2, 0), 1.1458, 4.01, 7.01],
    ['virtual line at 19200', ptyAdapter, 0.5729, 2.005, 33.3125],
  ])('of a %s', (_name, given, character, t35, expected) => {
    expect(discardGap(given, character, t35)).toBeCloseTo(expected, 2);
  });
});

describe('how long a written byte may wait', () => {
  it.each([
    ['16550', 1.25],
    ['unknown', 1.25],
    ['ftdi', 1],
    ['pty', 0],
  ] as const)('in a %s', (kind, expected) => {
    expect(outputHold({ ...ptyAdapter, kind }, 1.25)).toBe(expected);
  });
});
