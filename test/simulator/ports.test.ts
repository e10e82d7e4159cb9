import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { portStatuses, whyNoPort } from '../../src/simulator/ports.js';

function tree(): { root: string; file: (path: string, text: string) => void; link: typeof symlinkSync } {
  const root = mkdtempSync(join(tmpdir(), 'modbus-sim-ports-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  return {
    root,
    file: (path, text) => writeFileSync(at(path), text),
    link: (target, path) => symlinkSync(join(root, String(target)), at(String(path))),
  };
}

/** A tree with the adapter ttyUSB0, on which the kernel has its console. */
function treeWithConsole() {
  const { root, file, link } = tree();
  const device = 'sys/devices/usb1/1-1/1-1:1.0/ttyUSB0';
  file('dev/ttyUSB0', '');
  file('sys/devices/usb1/1-1/idVendor', '0403\n');
  file('sys/devices/usb1/1-1/idProduct', '6001\n');
  file(`${device}/latency_timer`, '16\n');
  file('sys/bus/usb-serial/drivers/ftdi_sio/x', '');
  link('sys/bus/usb-serial/drivers/ftdi_sio', `${device}/driver`);
  file(`${device}/tty/ttyUSB0/dev`, '188:0\n');
  link(device, `${device}/tty/ttyUSB0/device`);
  link(`${device}/tty/ttyUSB0`, 'sys/class/tty/ttyUSB0');
  link('dev/ttyUSB0', 'dev/serial/by-id/usb-FTDI-if00-port0');
  file('sys/class/tty/console/active', 'tty0 ttyUSB0\n');
  return { root, file, link };
}

it('a port is told with its hints and with the lines that use it under whichever name', async () => {
  const { root } = treeWithConsole();
  const used = [
    { name: 'bus', path: '/dev/serial/by-id/usb-FTDI-if00-port0' },
    { name: 'other', path: '/dev/ttyUSB1' },
  ];
  expect(await portStatuses(used, root)).toEqual([
    {
      path: '/dev/ttyUSB0',
      stableNames: ['/dev/serial/by-id/usb-FTDI-if00-port0'],
      adapter: expect.objectContaining({ kind: 'ftdi', latencyMs: 16 }),
      usb: { vendorId: '0403', productId: '6001' },
      hints: [
        expect.stringContaining('its latency timer is 16 ms'),
        expect.stringContaining('the kernel console is on this port'),
      ],
      lines: ['bus'],
    },
  ]);
});

it('a client of REST may name ports that are listed and usual names, and nothing else', async () => {
  const { root, file, link } = treeWithConsole();
  const name = '/dev/serial/by-id/usb-FTDI-if00-port0';
  expect(await whyNoPort(name, root)).toContain('the kernel console is on this port');
  file('sys/class/tty/console/active', 'tty0\n');
  link('dev/ttyUSB0', 'dev/bus-1');
  for (const path of [name, '/dev/ttyUSB0', '/dev/bus-1'])
    expect(await whyNoPort(path, root)).toBeUndefined();
  const usual = ['/dev/ttyUSB7', '/dev/serial0', '/dev/serial/by-path/x', '/dev/modbus-sim/by-usb-2'];
  for (const path of usual) expect(await whyNoPort(path, root)).toBeUndefined();
  file('dev/ttyS3', '');
  file('dev/null', '');
  file('etc/passwd', '');
  const others = [
    '/dev/ttyS3',
    '/dev/null',
    '/dev/nil',
    '/etc/passwd',
    '/etc/none',
    '/dev/serial/by-id/../../../etc/none',
  ];
  for (const path of others)
    expect(await whyNoPort(path, root)).toMatch(/^expected virtual, a port that .*, got/);
});
