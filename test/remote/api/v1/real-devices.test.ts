import { expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

/* Devices with a real one behind them, over REST. */

const SPARE = { registers: { holding: [{ address: 0, value: 1 }] } };

function start(api: object = {}): Rest {
  return new Rest(
    nativeSetup({
      devices: { meter: { real: { tcp: { host: 'meter.lan' } }, fallback: 'spare' }, spare: SPARE },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      api,
    }),
  );
}

it('shows where the real device is, and writes it into the configuration', async () => {
  const rest = start({ mayReach: ['plc.lan'] });
  const { body } = await rest.send('GET', '/api/v1/devices/meter');
  expect(body).toMatchObject({ real: { to: 'meter.lan:502', answers: true } });
  const { body: yaml } = await rest.app.inject({
    url: '/api/v1/configuration',
    headers: { host: 'localhost' },
  });
  expect(yaml).toContain('real: {tcp: {host: meter.lan}}');
  expect(yaml).toContain('fallback: spare');
  expect(yaml).toContain('mayReach: [plc.lan]');
});

it('may be added for a host that the file lists, and for a port of the machine', async () => {
  const rest = start({ mayReach: ['plc.lan'] });
  const add = (name: string, device: object) => rest.send('POST', '/api/v1/devices', { name, ...device });
  expect(await add('plc', { real: { tcp: { host: 'plc.lan' } } })).toMatchObject({
    status: 201,
    body: { real: { to: 'plc.lan:502' } },
  });
  expect(await add('other', { real: { tcp: { host: 'intranet' } } })).toMatchObject({
    status: 403,
    body: { code: 'device.host', problems: [{ path: 'real.tcp.host' }] },
  });
  expect(await add('tty', { real: { serial: { path: '/dev/tty' } } })).toMatchObject({
    status: 400,
    body: { code: 'line.not_serial', problems: [{ path: 'real.serial.path' }] },
  });
  expect(await add('usb', { real: { serial: { path: '/dev/ttyUSB7' } } })).toMatchObject({ status: 201 });
  expect(await add('lost', { real: { tcp: { host: 'plc.lan' } }, fallback: 'nobody' })).toMatchObject({
    status: 400,
    body: { code: 'device.invalid', problems: [{ path: 'fallback', message: 'unknown device "nobody"' }] },
  });
});

it('keeps its fallback, and takes no manners about registers', async () => {
  const rest = start();
  expect(await rest.send('DELETE', '/api/v1/devices/spare')).toMatchObject({
    status: 409,
    body: { code: 'device.in_use' },
  });
  const manners = (body: object) => rest.send('PUT', '/api/v1/devices/meter/manners', body);
  expect(await manners({ holes: 'silence' })).toMatchObject({
    status: 400,
    body: { code: 'manners.real_device' },
  });
  expect(await manners({ most: { registers: 10 } })).toMatchObject({ status: 200 });
});
