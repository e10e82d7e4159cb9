import { describe, expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { Rest } from '../rest.js';

const METER = { registers: { holding: [{ address: 0, value: 7 }] } };

const SETUP = nativeSetup({
  devices: { meter: METER, valve: METER },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter', '*': 'valve' } },
    bench: {
      serial: { path: '/dev/ttyUSB0', baudRate: 9600, rs485: { mode: 'kernel', delayAfterSend: 2 } },
      timing: { turnaround: 20 },
      units: { 17: 'meter' },
    },
    ascii: { serial: { path: 'virtual', link: '/tmp/a' }, framing: 'ascii', units: { 1: 'meter' } },
    old: { udp: { port: 5020 }, framing: 'rtu', units: { 1: 'meter' }, missingUnit: 'silence' },
    secure: { tls: { cert: 'a.pem', key: 'b.pem', ca: 'c.pem' }, units: { 1: 'meter' } },
  },
});

const OPEN = nativeSetup({
  devices: { meter: METER },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
  },
});

stopAfterEach();

const NO_COUNTS = {
  requests: 0,
  broadcasts: 0,
  dropped: 0,
  replies: 0,
  unsolicited: 0,
  duplicates: 0,
  echoes: 0,
  collisions: 0,
  foreignFrames: 0,
  damagedFrames: 0,
  noiseBytes: 0,
  damagedCharacters: 0,
  rejected: 0,
};

interface View {
  readonly name: string;
  readonly settings: object;
}

describe('GET /api/v1/lines', () => {
  it('lists all lines in the order of the file', async () => {
    const rest = new Rest(SETUP);
    const { status, body } = await rest.send<{ lines: View[] }>('GET', '/api/v1/lines');
    expect(status).toBe(200);
    expect(body.lines.map(({ name }) => name)).toEqual(['lan', 'bench', 'ascii', 'old', 'secure']);
    for (const view of body.lines) {
      expect(await rest.send('GET', `/api/v1/lines/${view.name}`)).toEqual({ status: 200, body: view });
    }
  });

  it('shows a socket that is not open yet', async () => {
    expect(await new Rest(SETUP).send('GET', '/api/v1/lines/lan')).toEqual({
      status: 200,
      body: {
        name: 'lan',
        description: 'Modbus TCP on 127.0.0.1:0, units 1, *',
        state: 'stopped',
        reason: null,
        place: '127.0.0.1:0',
        address: { host: '127.0.0.1', port: 0 },
        link: null,
        manners: {},
        settings: {
          tcp: { host: '127.0.0.1', port: 0, maxClients: 256, idleTimeout: 300_000 },
          framing: 'socket',
          units: { 1: 'meter', '*': 'valve' },
          missingUnit: 'exception',
        },
        units: { 1: 'meter', '*': 'valve' },
        uptime: null,
        clients: 0,
        counters: NO_COUNTS,
      },
    });
  });

  it('has the port that a line with port 0 got as a number of its own, until the line is closed', async () => {
    const { rest, port } = await startSimulator(OPEN);
    const at = async (path: string, method: 'GET' | 'POST' = 'GET') =>
      (await rest.send<{ address?: object }>(method, `/api/v1/lines/${path}`)).body.address;
    expect(await at('lan')).toEqual({ host: '127.0.0.1', port: port('lan') });
    expect(await at('lan/stop', 'POST')).toEqual({ host: '127.0.0.1', port: 0 });
    expect(await at('bench')).toBeUndefined();
  });

  it('computes the times of a serial line that is not open yet', async () => {
    const { body } = await new Rest(SETUP).send('GET', '/api/v1/lines/bench');
    expect(body).toEqual({
      name: 'bench',
      description:
        'RTU on /dev/ttyUSB0 9600 8E1, units 17; t1.5 1.719 ms, t3.5 4.010 ms, gap 7.0 ms, replies 20 ms after t3.5',
      state: 'stopped',
      mode: 'server',
      reason: null,
      place: '/dev/ttyUSB0',
      link: null,
      manners: {},
      settings: {
        serial: {
          path: '/dev/ttyUSB0',
          baudRate: 9600,
          dataBits: 8,
          parity: 'even',
          stopBits: 1,
          rs485: {
            mode: 'kernel',
            rtsOnSend: 'high',
            delayBeforeSend: 0,
            delayAfterSend: 2,
          },
        },
        framing: 'rtu',
        mode: 'server',
        timing: { turnaround: 20 },
        whenBusy: 'replace',
        echo: 'auto',
        units: { 17: 'meter' },
      },
      units: { 17: 'meter' },
      uptime: null,
      times: {
        t15: expect.closeTo(1.719, 3),
        t35: expect.closeTo(4.01, 2),
        gap: expect.any(Number),
        turnaround: expect.closeTo(24.01, 2),
        characterTime: expect.closeTo(1.146, 3),
      },
      counters: NO_COUNTS,
    });
  });
});

describe('PUT of the settings that GET told', () => {
  it.each(['lan', 'bench', 'ascii', 'old', 'secure'])('changes nothing on %s', async (name) => {
    const rest = new Rest(SETUP);
    const { body: before } = await rest.send<View>('GET', `/api/v1/lines/${name}`);
    expect(await rest.send('PUT', `/api/v1/lines/${name}`, before.settings)).toEqual({
      status: 200,
      body: before,
    });
  });

  it('with one thing edited changes that', async () => {
    const rest = new Rest(SETUP);
    const { body: before } = await rest.send<View>('GET', '/api/v1/lines/old');
    const settings = { ...before.settings, framing: 'ascii' };
    expect(await rest.send('PUT', '/api/v1/lines/old', settings)).toMatchObject({
      status: 200,
      body: { settings },
    });
  });
});

describe('a name of a line in an address', () => {
  const NAMES = [
    'a/b',
    'start',
    'a/start',
    '50% + ?&#',
    'ü 線',
    'a"b',
    '__proto__x',
    'constructor',
    '😀'.repeat(64),
  ];

  it.each(NAMES)('may be %s', async (name) => {
    const rest = new Rest(
      nativeSetup({
        devices: { meter: METER },
        lines: {
          [name]: { tcp: { port: 0 }, units: { 1: 'meter' } },
          other: { tcp: { port: 0 }, units: { 1: 'meter' } },
        },
      }),
    );
    const url = `/api/v1/lines/${encodeURIComponent(name)}`;
    expect(await rest.send('GET', url)).toMatchObject({ status: 200, body: { name } });
    expect(await rest.send('PUT', url, { framing: 'rtu' })).toMatchObject({
      status: 200,
      body: { name, settings: { framing: 'rtu' } },
    });
    expect(await rest.send('POST', `${url}/stop`)).toMatchObject({ status: 200, body: { name } });
  });

  it('that no line has gets status 404, and tells nothing of others', async () => {
    const rest = new Rest(SETUP);
    const requests = [
      ['GET', '/api/v1/lines/lam'],
      ['PUT', '/api/v1/lines/lam'],
      ['POST', '/api/v1/lines/lam/start'],
      ['POST', '/api/v1/lines/lam/stop'],
      ['POST', '/api/v1/lines/lam/restart'],
    ] as const;
    for (const [method, url] of requests) {
      expect(await rest.send(method, url, method === 'GET' ? undefined : {})).toMatchObject({
        status: 404,
        body: { error: 'name: no line "lam"', problems: [{ path: 'name', message: 'no line "lam"' }] },
      });
    }
    expect(await rest.send('POST', '/api/v1/lines/lan/explode')).toMatchObject({ status: 404 });
    expect(await rest.send('GET', '/api/v1/lines/__proto__')).toMatchObject({ status: 404 });
  });
});

describe('settings that make no sense are refused with their places', () => {
  const SETTINGS = 'expected settings of the line, such as {"serial": {"baudRate": 9600}}';

  it.each([
    ['[]', '', `${SETTINGS}, got an empty list`],
    ['7', '', `${SETTINGS}, got 7`],
    ['null', '', `${SETTINGS}, got nothing`],
    ['', '', `missing, ${SETTINGS}`],
    [{ speed: 9600 }, 'speed', 'unknown key "speed"'],
    [
      { serial: { baudRate: 'fast' } },
      'serial.baudRate',
      'expected a whole number from 50 to 4000000, got "fast"',
    ],
    [{ serial: 9600 }, 'serial', 'expected a mapping, got 9600'],
    [{ serial: null }, '', 'expected one of serial, tcp, udp, tls'],
    [{ serial: { dataBits: 7 } }, 'serial.dataBits', 'expected 8 (7 is for framing ascii), got 7'],
    [{ serial: { link: 'x' } }, 'serial.link', 'only a line with path virtual can have this'],
    [{ timing: { gap: 1 } }, 'timing.gap', 'expected at least t3.5, 4.01 ms, got 1'],
    [{ timing: { turnaround: -1 } }, 'timing.turnaround', 'expected t3.5, eager or a number of milliseconds'],
    [{ units: { 1: 'metre' } }, 'units.1', 'unknown device "metre", did you mean "meter"?'],
    [{ units: { 300: 'meter' } }, 'units.300', 'expected a unit identifier from 1 to 247'],
    [{ units: null }, 'units', 'missing, expected unit identifiers'],
    [{ units: {} }, 'units', 'expected unit identifiers'],
    [{ framing: 'socket' }, 'framing', 'expected rtu or ascii, got "socket"'],
    [{ tcp: { port: 70000 } }, 'tcp.port', 'expected a whole number from 0 to 65535, got 70000'],
  ])('%j', async (body, path, message) => {
    const rest = new Rest(SETUP);
    const before = await rest.send('GET', '/api/v1/lines');
    const answer = await rest.send('PUT', '/api/v1/lines/bench', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { problems: [{ path, message: expect.stringContaining(message) }] },
    });
    expect(await rest.send('GET', '/api/v1/lines')).toEqual(before);
  });

  it('all mistakes at once', async () => {
    const body = { serial: { parity: 'mark', stopBits: 3 }, timing: { gap: 'x' } };
    const { body: answer } = await new Rest(SETUP).send<{ problems: { path: string }[] }>(
      'PUT',
      '/api/v1/lines/bench',
      body,
    );
    expect(answer.problems.map(({ path }) => path)).toEqual([
      'serial.parity',
      'serial.stopBits',
      'timing.gap',
    ]);
  });
});

describe('a line that is stopped', () => {
  it('can become another transport, which keeps the units alone', async () => {
    const rest = new Rest(SETUP);
    const tcp = { host: '127.0.0.1', port: 0, maxClients: 256, idleTimeout: 300_000 };
    expect(await rest.send('PUT', '/api/v1/lines/bench', { tcp: { port: 0 } })).toMatchObject({
      status: 200,
      body: { state: 'stopped', settings: { tcp, framing: 'socket', units: { 17: 'meter' } } },
    });
  });

  it('forgets what is set to null', async () => {
    const rest = new Rest(SETUP);
    const change = { serial: { rs485: null, baudRate: null }, timing: null };
    const { body } = await rest.send<{ settings: { serial: object } }>('PUT', '/api/v1/lines/bench', change);
    expect(body.settings).toMatchObject({ serial: { baudRate: 19200 }, timing: { turnaround: 't3.5' } });
    expect(body.settings.serial).not.toHaveProperty('rs485');
  });
});

it('GET /api/v1/ports lists what there is, with the lines that use it', async () => {
  const { status, body } = await new Rest(SETUP).send('GET', '/api/v1/ports');
  expect(status).toBe(200);
  expect(body).toEqual({ ports: expect.any(Array) });
});
