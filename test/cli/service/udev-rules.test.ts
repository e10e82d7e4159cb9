import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { evaluateRules, type UdevDevice } from './udev-evaluator.js';

const RULES = readFileSync('udev/61-modbus-sim.rules', 'utf8');

interface Adapter {
  readonly vendor: string;
  readonly driver: string;
  readonly serial?: string;
  readonly interfaceNumber?: string;
}

/** A USB adapter in the second socket of the hub in the first one, as 60-serial.rules and usb_id leave it. */
function adapter(
  { vendor, driver, serial, interfaceNumber = '00' }: Adapter,
  action: 'add' | 'remove' = 'add',
) {
  const socket = `1-1.2:1.${Number(interfaceNumber)}`;
  const device: UdevDevice = {
    action,
    kernel: 'ttyUSB0',
    subsystem: 'tty',
    properties: {
      ID_BUS: 'usb',
      ID_VENDOR_ID: vendor,
      ID_USB_INTERFACE_NUM: interfaceNumber,
      ...(serial !== undefined && { ID_SERIAL_SHORT: serial }),
    },
    chain: [
      { kernel: 'ttyUSB0', subsystem: 'tty', driver: '' },
      { kernel: 'ttyUSB0', subsystem: 'usb-serial', driver },
      { kernel: socket, subsystem: 'usb', driver },
      { kernel: '1-1.2', subsystem: 'usb', driver: 'usb' },
    ],
  };
  return device;
}

const FTDI = { vendor: '0403', driver: 'ftdi_sio', serial: 'A50285BI' };
const CP2102 = { vendor: '10c4', driver: 'cp210x', serial: '0001' };
const CH340 = { vendor: '1a86', driver: 'ch341-uart' };
const PL2303 = { vendor: '067b', driver: 'pl2303' };

const run = (device: UdevDevice, files: readonly string[] = []) =>
  evaluateRules(RULES, device, (path) => files.includes(path));

const SOCKET = 'modbus-sim/usb-1-1.2:1.0';

describe('an adapter that is plugged in', () => {
  it.each([
    ['FTDI', FTDI, ['modbus-sim/A50285BI', SOCKET]],
    ['CP2102', CP2102, ['modbus-sim/0001', SOCKET]],
    ['CH340, which has no serial number', CH340, [SOCKET]],
    ['PL2303, which has no serial number', PL2303, [SOCKET]],
    [
      'FT4232H, at its third port',
      { ...FTDI, serial: 'FT4ABCDE', interfaceNumber: '02' },
      ['modbus-sim/FT4ABCDE-if02', 'modbus-sim/usb-1-1.2:1.2'],
    ],
  ])('has names that stay: %s', (_, kind, links) => {
    expect(run(adapter(kind)).links).toEqual(links);
  });

  it.each([
    ['FTDI', FTDI],
    ['CP2102', CP2102],
    ['CH340', CH340],
    ['PL2303', PL2303],
  ])('is for the group dialout and not for ModemManager: %s', (_, kind) => {
    const { group, mode, properties } = run(adapter(kind));
    expect({ group, mode }).toEqual({ group: 'dialout', mode: '0660' });
    expect(properties).toMatchObject({ ID_MM_DEVICE_IGNORE: '1', ID_MM_PORT_IGNORE: '1' });
  });

  it('with an FTDI chip hands over what it has after 1 ms; the others have no such timer', () => {
    expect(run(adapter(FTDI)).attributes).toEqual({ 'device/latency_timer': '1' });
    expect(run(adapter(CP2102)).attributes).toEqual({});
  });

  it('starts the service that has a configuration of its name, by serial number or by socket', () => {
    const started = (files: readonly string[], kind: Adapter = FTDI) => {
      const { properties, tags } = run(adapter(kind), files);
      return { wants: properties.SYSTEMD_WANTS, tags: [...new Set(tags)] };
    };
    expect(started(['/etc/modbus-sim/A50285BI.yaml'])).toEqual({
      wants: 'modbus-sim@A50285BI.service',
      tags: ['systemd'],
    });
    const bySocket = { wants: 'modbus-sim@usb-1-1.2:1.0.service', tags: ['systemd'] };
    expect(started(['/etc/modbus-sim/usb-1-1.2:1.0.yaml'], CH340)).toEqual(bySocket);
    expect(started(['/etc/modbus-sim/config.yaml'])).toEqual({ wants: undefined, tags: [] });
  });

  it('gets nothing when it goes', () => {
    expect(run(adapter(FTDI, 'remove'))).toMatchObject({ links: [], attributes: {}, group: undefined });
  });
});

describe('what is no RS-485 adapter', () => {
  it('is left to ModemManager when it may be a modem', () => {
    const { links, properties, group } = run(adapter({ vendor: '12d1', driver: 'option', serial: 'X' }));
    expect({ links, group }).toEqual({ links: [], group: 'dialout' });
    expect(properties).not.toHaveProperty('ID_MM_PORT_IGNORE');
  });

  it('gets its group when it is a UART of the machine', () => {
    const chain = [{ kernel: 'ttyAMA0', subsystem: 'tty', driver: '' }];
    const uart: UdevDevice = { action: 'add', kernel: 'ttyAMA0', subsystem: 'tty', properties: {}, chain };
    expect(run(uart)).toMatchObject({ group: 'dialout', mode: '0660', links: [] });
  });

  it('is not touched when it is a console or a disk', () => {
    const of = (kernel: string, subsystem: string): UdevDevice => ({
      action: 'add',
      kernel,
      subsystem,
      properties: {},
      chain: [{ kernel, subsystem, driver: '' }],
    });
    expect(run(of('tty1', 'tty')).group).toBeUndefined();
    expect(run(of('sda', 'block')).group).toBeUndefined();
  });
});
