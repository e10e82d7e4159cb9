import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';

/* Mistakes in the entry of a real device, and what is read of a right one. */

const TCP = { tcp: { host: 'meter', port: 502 } };
const LINE = { tcp: { port: 5020 }, units: { 1: 'meter' } };

function load(meter: object, more: object = {}, lines: object = { lan: LINE }) {
  const loaded = loadNative({ devices: { meter, ...more }, lines }, '.');
  if (loaded.ok) return loaded.configuration.devices[0]?.real;
  return loaded.problems.map(({ path, message }) => `${path}: ${message}`);
}

const spare = { registers: { holding: [{ address: 0, value: 1 }] } };

it('has a second of time, passes only reads on, and keeps values', () => {
  expect(load({ real: TCP })).toEqual({
    target: { kind: 'tcp', host: 'meter', port: 502, framing: 'socket' },
    timeout: 1000,
    pause: 0,
    writes: false,
    whenSilent: 'silence',
    shadow: true,
  });
});

it('has the settings of a port where it is on a serial line', () => {
  const serial = { path: '/dev/ttyUSB1', baudRate: 9600 };
  const real = { serial, unit: 5, timeout: '200ms' };
  expect(
    load({ real, writes: true, whenSilent: 'exception', pause: '20ms', fallback: 'spare' }, { spare }),
  ).toEqual({
    target: {
      kind: 'serial',
      path: '/dev/ttyUSB1',
      baudRate: 9600,
      dataBits: 8,
      parity: 'even',
      stopBits: 1,
      framing: 'rtu',
    },
    unit: 5,
    timeout: 200,
    pause: 20,
    writes: true,
    whenSilent: 'exception',
    fallback: 'spare',
    shadow: true,
  });
});

describe('a mistake', () => {
  const own = { tcp: { host: 'localhost', port: 5020 } };
  const port = { serial: { path: '/dev/ttyUSB0' } };

  it.each<[string, string[], object, object?, object?]>([
    ['neither', ['devices.meter.real: expected one of serial, tcp, got none of them'], { real: {} }],
    ['both', ['devices.meter.real: expected one of serial, tcp, got both'], { real: { ...TCP, ...port } }],
    [
      'a key beside nothing',
      ['devices.meter.writes: needs `real`, which is missing'],
      { ...spare, writes: true },
    ],
    [
      'a wrong value beside it',
      [
        'devices.meter.whenSilent: expected silence or exception, got "exeption", did you mean "exception"?',
        'devices.meter.shadow: expected true or false, got 5',
      ],
      { real: TCP, whenSilent: 'exeption', shadow: 5 },
    ],
    [
      'what a real device answers itself',
      ['devices.meter.identity: the real device answers this itself'],
      { real: TCP, identity: { vendorName: 'x' } },
    ],
    [
      'manners about registers',
      [
        'devices.meter.manners.holes: applies to the registers of a simulated device, but a real one answers here',
      ],
      { real: TCP, manners: { holes: 'silence' } },
    ],
    [
      'an unknown fallback',
      ['devices.meter.fallback: unknown device "spare"'],
      { real: TCP, fallback: 'spare' },
    ],
    [
      'a fallback that is real',
      ['devices.meter.fallback: expected a simulated device, but spare is a real one'],
      { real: TCP, fallback: 'spare' },
      { spare: { real: TCP } },
    ],
    [
      'a virtual line',
      [
        'devices.meter.real.serial.path: expected the path of a port: a virtual line has no real device at its other end, got "virtual"',
      ],
      { real: { serial: { path: 'virtual' } } },
    ],
    [
      'its own line',
      ['devices.meter.real.tcp: leads back to this device: a request would circulate forever'],
      { real: own },
    ],
    [
      'the port of its own line',
      ['devices.meter.real.serial.path: /dev/ttyUSB0 is already used by line bus'],
      { real: port },
      {},
      { bus: { serial: { path: '/dev/ttyUSB0' }, units: { 1: 'meter' } } },
    ],
    [
      'two settings of one port',
      ['devices.other.real.serial: another device has different settings for this port'],
      { real: port },
      { other: { real: { serial: { path: '/dev/ttyUSB0', baudRate: 9600 } } } },
    ],
  ])('is %s', (_, problems, meter, more, lines) => {
    expect(load(meter, more, lines)).toEqual(problems);
  });

  it('is no other address of this machine on the same port', () => {
    const to = (host: string) => ({ real: { tcp: { host, port: 5020 } } });
    expect(load(to('127.0.0.2'))).toMatchObject({ target: { host: '127.0.0.2' } });
    expect(load(to('127.0.0.1'))).toHaveLength(1);
    const all = { lan: { ...LINE, tcp: { host: '0.0.0.0', port: 5020 } } };
    expect(load(to('127.0.0.2'), {}, all)).toHaveLength(1);
  });

  it('is a circle over two lines', () => {
    const lines = {
      one: { tcp: { port: 5020 }, units: { 1: 'meter' } },
      two: { tcp: { port: 5021 }, units: { 1: 'other' } },
    };
    const to = (port: number) => ({ real: { tcp: { host: '127.0.0.1', port } } });
    expect(load(to(5021), { other: to(5020) }, lines)).toHaveLength(2);
    expect(load(to(5021), { other: spare }, lines)).toMatchObject({ target: { port: 5021 } });
  });
});
