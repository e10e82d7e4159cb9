import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listPorts } from '../../../../src/modbus/transport/port/list-ports.js';
import { useMachine } from './machine.js';

const { root, file, link, port } = useMachine();

const paths = async (): Promise<string[]> => (await listPorts(root())).map((info) => info.path);

describe('the list of serial ports', () => {
  it('shows a USB adapter with its stable names and what it says of itself', async () => {
    port('ttyUSB0', 'usb1/1-1/1-1:1.0/ttyUSB0', 'ftdi_sio');
    file('sys/devices/usb1/1-1/idVendor', '0403\n');
    file('sys/devices/usb1/1-1/idProduct', '6001\n');
    file('sys/devices/usb1/1-1/manufacturer', 'FTDI\n');
    file('sys/devices/usb1/1-1/product', 'FT232R USB UART\n');
    file('sys/devices/usb1/1-1/serial', 'A10KZP45\n');
    file('sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer', '16\n');
    link('dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A10KZP45-if00-port0', 'dev/ttyUSB0');
    link('dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0', 'dev/ttyUSB0');
    link('dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0', 'dev/ttyUSB1');
    link('dev/modbus-sim/A10KZP45', 'dev/ttyUSB0');
    expect(await listPorts(root())).toEqual([
      {
        path: '/dev/ttyUSB0',
        stableNames: [
          '/dev/modbus-sim/A10KZP45',
          '/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A10KZP45-if00-port0',
          '/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0',
        ],
        adapter: expect.objectContaining({ kind: 'ftdi', latencyMs: 16 }),
        usb: {
          vendorId: '0403',
          productId: '6001',
          manufacturer: 'FTDI',
          product: 'FT232R USB UART',
          serialNumber: 'A10KZP45',
        },
        hints: [expect.stringContaining('latency timer is 16 ms')],
      },
    ]);
  });

  it('says what its user should know: a mini UART, and a console on it', async () => {
    port('ttyS0', 'soc/serial', 'bcm2835-aux-uart');
    link('dev/serial0', 'dev/ttyS0');
    file('proc/cmdline', 'console=serial0,115200 root=/dev/mmcblk0p2\n');
    const [info] = await listPorts(root());
    expect(info?.hints).toEqual([
      expect.stringContaining('it has no parity'),
      expect.stringContaining('remove console=serial0 from the kernel command line'),
    ]);
  });

  it('is plain data, for REST', async () => {
    port('ttyS0', 'soc/serial', 'bcm2835-aux-uart');
    const found = await listPorts(root());
    expect(JSON.parse(JSON.stringify(found))).toEqual(found);
  });

  it('leaves out what a CH340 does not say', async () => {
    port('ttyUSB0', 'usb1/1-1/1-1:1.0/ttyUSB0', 'ch341-uart');
    file('sys/devices/usb1/1-1/idVendor', '1a86\n');
    file('sys/devices/usb1/1-1/idProduct', '7523\n');
    const [info] = await listPorts(root());
    expect(info?.usb).toEqual({ vendorId: '1a86', productId: '7523' });
  });

  it('leaves out ttyS ports that have no UART', async () => {
    port('ttyS0', 'pnp0/00:00', 'serial', { type: '4\n' });
    port('ttyS1', 'platform/serial8250/a', 'serial8250', { type: '0\n' });
    expect(await paths()).toEqual(['/dev/ttyS0']);
  });

  it('leaves them out for users who may not read the type, too', async () => {
    port('ttyS0', 'pnp0/00:00', 'serial');
    port('ttyS1', 'platform/serial8250/serial8250:0/serial8250:0.1', 'port');
    expect(await paths()).toEqual(['/dev/ttyS0']);
  });

  it('leaves out consoles and pseudo-terminals, which have no hardware', async () => {
    file('sys/devices/virtual/tty/tty0/dev', '4:0\n');
    link('sys/class/tty/tty0', 'sys/devices/virtual/tty/tty0');
    file('dev/tty0', '');
    expect(await paths()).toEqual([]);
  });

  it('is in the order of numbers', async () => {
    for (const name of ['ttyUSB10', 'ttyUSB2', 'ttyAMA0']) port(name, `soc/${name}`, 'some');
    expect(await paths()).toEqual(['/dev/ttyAMA0', '/dev/ttyUSB2', '/dev/ttyUSB10']);
  });

  it('is empty where there is no sysfs', async () => {
    expect(await listPorts(join(root(), 'nowhere'))).toEqual([]);
  });

  it('has only ports that exist on this machine', async () => {
    for (const info of await listPorts()) expect(info.path).toMatch(/^\/dev\/tty\w+$/);
  });
});
