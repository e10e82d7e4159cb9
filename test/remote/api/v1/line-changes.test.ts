import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Certificates } from '../../../modbus/transport/socket/certificates.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { freePort, serialMaster, takenPort, tcpMaster } from '../masters.js';
import type { Rest } from '../rest.js';

/** What these tests look into. */
interface View {
  readonly state: string;
  readonly reason: string | null;
  readonly place: string;
  readonly link: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly uptime: number;
  readonly clients: number;
  readonly times: { readonly t35: number; readonly turnaround: number | null };
  readonly counters: Readonly<Record<string, number>>;
}

const device = (first: number) => ({
  registers: { holding: [{ address: 0, value: [first, 2, 3], write: true }] },
});

let directory: string;
let link: string;
let rest: Rest;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'modbus-sim-lines-'));
  link = join(directory, 'bench');
  const served = await startSimulator(
    nativeSetup(
      {
        devices: { meter: device(1), valve: device(71) },
        lines: {
          bench: { serial: { path: 'virtual', link }, units: { 1: 'meter' } },
          other: { serial: { path: 'virtual', link: `${link}-2` }, units: { 1: 'meter' } },
          lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
          spare: { udp: { port: 0 }, units: { 1: 'valve' } },
        },
      },
      directory,
    ),
  );
  rest = served.rest;
});
afterEach(() => rmSync(directory, { recursive: true }));
stopAfterEach();

async function view(line: string): Promise<View> {
  const { status, body } = await rest.send<View>('GET', `/api/v1/lines/${line}`);
  expect(status).toBe(200);
  return body;
}

/** The same without what passes by itself. */
async function still(line: string): Promise<object> {
  const { uptime, ...rest } = await view(line);
  return rest;
}

const put = (line: string, change: object) => rest.send<View>('PUT', `/api/v1/lines/${line}`, change);
const post = (line: string, command: string) => rest.send<View>('POST', `/api/v1/lines/${line}/${command}`);

async function changed(line: string, change: object): Promise<View> {
  const { status, body } = await put(line, change);
  expect(body).not.toHaveProperty('error');
  expect(status).toBe(200);
  return body;
}

/** What a new connection is answered first. */
async function ask(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

/** A client of the line `lan`, until the test ends; the certificate is not looked at. */
async function tlsClient(): Promise<TLSSocket> {
  const socket = connectTls({ port: await tcpPort(), host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  // With TLS 1.3 it is done before the line is.
  await vi.waitFor(async () => expect(await view('lan')).toMatchObject({ clients: 1 }), 5000);
  return socket;
}

async function tcpPort(line = 'lan'): Promise<number> {
  const { place } = await view(line);
  return Number(place.slice(place.lastIndexOf(':') + 1));
}

describe('a virtual line with a client', () => {
  it.each([
    { serial: { baudRate: 9600 } },
    { serial: { parity: 'none' } },
    { serial: { pacing: { chunk: 8 }, baudRate: 115200 } },
    { timing: { turnaround: 30 } },
    { timing: { turnaround: 'eager' } },
    { timing: { t35: 5, gap: 40 } },
    { whenBusy: 'queue' },
    { echo: 'no' },
    { units: { 1: 'meter', 17: 'valve' } },
  ])('takes %j: the client goes on with the same port, and the registers stay', async (change) => {
    const master = await serialMaster(link);
    await master.writeRegister(1, 4711);
    const before = await view('bench');
    const after = await changed('bench', change);
    expect(after).toMatchObject({ state: 'open', place: before.place, link, settings: change });
    expect(realpathSync(link)).toBe(before.place);
    expect((await master.readHoldingRegisters(0, 3)).data).toEqual([1, 4711, 3]);
    expect((await view('bench')).counters.requests).toBe(2);
  });

  it('answers for units from the moment they are there until they are taken away', async () => {
    const master = await serialMaster(link);
    const read = async (unit: number) => {
      master.setID(unit);
      return (await master.readHoldingRegisters(0, 1)).data;
    };
    const expectSilence = async (unit: number) => {
      const patience = master.getTimeout();
      master.setTimeout(300);
      await expect(read(unit)).rejects.toMatchObject({ name: 'TransactionTimedOutError' });
      master.setTimeout(patience);
    };
    await expectSilence(17);
    await changed('bench', { units: { 17: 'valve' } });
    expect(await read(17)).toEqual([71]);
    await expectSilence(1);
    await changed('bench', { units: { 1: 'meter' } });
    expect(await read(1)).toEqual([1]);
  });

  it('waits as long before a reply as its turnaround says', async () => {
    const master = await serialMaster(link);
    await changed('bench', { timing: { turnaround: 150 } });
    const start = performance.now();
    await master.readHoldingRegisters(0, 1);
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
    expect((await view('bench')).times.turnaround).toBeCloseTo(150 + (3.5 * 11_000) / 19_200, 3);
    expect((await changed('bench', { timing: { turnaround: null } })).times.turnaround).toBeCloseTo(2.005, 2);
  });

  it('speaks ASCII from one request to the next', async () => {
    const view = await changed('bench', { framing: 'ascii' });
    expect(view).toMatchObject({ state: 'open', settings: { framing: 'ascii', serial: { dataBits: 7 } } });
    const { SerialPort } = await import('serialport');
    const port = new SerialPort({ path: link, baudRate: 19200, autoOpen: false });
    await new Promise<void>((resolve, reject) => port.open((error) => (error ? reject(error) : resolve())));
    let text = '';
    port.on('data', (chunk) => {
      text += chunk;
    });
    port.write(':010300000001FB\r\n');
    await until(() => text.endsWith('\n'), 'the reply has come');
    expect(text).toBe(':0103020001F9\r\n');
    await new Promise<void>((resolve) => port.close(() => resolve()));
    const back = await changed('bench', { framing: null });
    expect(back).toMatchObject({ settings: { framing: 'rtu', serial: { dataBits: 8 } } });
  });
});

describe('a line that can not be as it was asked to be', () => {
  it('a virtual one keeps its port and its client when a serial port is not there', async () => {
    const master = await serialMaster(link);
    const before = await still('bench');
    const path = '/dev/serial/by-id/usb-none-of-this-machine';
    const answer = await put('bench', { serial: { path, link: null }, units: { 9: { copyOf: 'meter' } } });
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining(path) } });
    expect(await still('bench')).toEqual(before);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
    expect([...rest.simulator.devices.keys()]).toEqual(['meter', 'valve']);
  });

  it.each(['bench', 'other'])('a virtual one is not put on the port of the virtual line %s', async (line) => {
    const master = await serialMaster(link);
    const { link: path } = await view(line);
    const before = await still('bench');
    const answer = await put('bench', { serial: { path, link: null } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'line.not_serial' } });
    expect(await still('bench')).toEqual(before);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a TCP one keeps its port and its clients when a port belongs to another program', async () => {
    const port = await takenPort();
    const master = await tcpMaster(await tcpPort());
    await master.writeRegister(0, 9);
    const before = await still('lan');
    const answer = await put('lan', { tcp: { port }, units: { 1: 'valve' } });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(`127.0.0.1:${port}`), problems: [{ path: '' }] },
    });
    expect(await still('lan')).toEqual(before);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([9]);
  });

  it.each([
    ['that has no certificate to read', { tcp: null, tls: { cert: 'no.pem', key: 'no.pem' } }, 'no.pem'],
    ['at a host that nobody knows', { tcp: { host: 'no.such.invalid' } }, 'no.such.invalid'],
    ['at an address that is not of this machine', { tcp: { host: '192.0.2.7' } }, '192.0.2.7'],
  ])('a TCP one keeps its clients when it is to be one on the same port %s', async (_, change, message) => {
    const port = await freePort();
    await changed('lan', { tcp: { port } });
    const master = await tcpMaster(port);
    const before = await still('lan');
    const { tls } = change as { tls?: object };
    const answer = await put('lan', tls ? { ...change, tls: { ...tls, port } } : change);
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining(message) } });
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
    expect(await still('lan')).toMatchObject({ ...before, counters: { requests: 1 } });
  });

  it.each([
    '/dev/pts/0',
    '/dev/pts/99999',
    '/dev/console',
    '/dev/tty',
    '/dev/null',
    '/etc/passwd',
    '/etc/none',
    '/dev/ptmx',
  ])(
    'a serial one is not opened on %s, which is no serial port, whether or not it is there',
    async (path) => {
      expect(await put('bench', { serial: { path, link: null } })).toMatchObject({
        status: 400,
        body: {
          code: 'line.not_serial',
          problems: [
            {
              path: 'serial.path',
              message: `expected virtual, a port that GET /api/v1/ports lists, or the name of a port that may appear later (/dev/tty…, /dev/serial/…, /dev/modbus-sim/…), got ${path}`,
            },
          ],
        },
      });
    },
  );

  it.each(['/etc/passwd', '/etc/no-such-file', '/proc/self/pagemap', '../../etc/passwd'])(
    'a TCP one is not made TLS with %s: certificates come from the directory of the configuration',
    async (cert) => {
      const port = await freePort();
      expect(await put('lan', { tcp: null, tls: { cert, key: cert, port } })).toMatchObject({
        status: 400,
        body: {
          code: 'file.outside',
          problems: [{ path: 'tls.cert', message: expect.stringContaining('expected a path in') }],
        },
      });
    },
  );

  it('a TCP one keeps its clients when another program has its port at the address it is to have', async () => {
    const port = await takenPort('127.0.0.2');
    await changed('lan', { tcp: { port } });
    const master = await tcpMaster(port);
    expect(await put('lan', { tcp: { host: '127.0.0.2' } })).toMatchObject({ status: 409 });
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a TCP one is served again when another program has its port at one of the addresses it is to have', async () => {
    const port = await takenPort('127.0.0.2');
    await changed('lan', { tcp: { port } });
    const answer = await put('lan', { tcp: { host: '0.0.0.0' } });
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('EADDRINUSE') } });
    expect(await view('lan')).toMatchObject({ state: 'open', place: `127.0.0.1:${port}` });
    const master = await tcpMaster(port);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a TLS one keeps its clients when a restart finds no certificate', async () => {
    const certificates = new Certificates();
    onTestFinished(() => certificates.remove());
    const made = certificates.selfSigned('server');
    // REST may name files in the directory of the configuration.
    const server = { cert: join(directory, 'server.pem'), key: join(directory, 'server.key') };
    copyFileSync(made.cert, server.cert);
    copyFileSync(made.key, server.key);
    await changed('lan', { tcp: null, tls: { ...server, port: 0 } });
    const client = await tlsClient();
    expect(await post('lan', 'restart')).toMatchObject({ status: 200, body: { state: 'open', clients: 0 } });
    await until(() => client.destroyed, 'the client is disconnected');
    const second = await tlsClient();
    const before = await still('lan');
    rmSync(server.cert);
    expect(await post('lan', 'restart')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(server.cert) },
    });
    expect(await still('lan')).toEqual(before);
    expect(second.destroyed).toBe(false);
  });
});

describe('a TCP line with a client', () => {
  it('goes on with another device, with nobody disconnected', async () => {
    const master = await tcpMaster(await tcpPort());
    const { place } = await view('lan');
    expect((await changed('lan', { units: { 1: 'valve' }, missingUnit: 'silence' })).place).toBe(place);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([71]);
    expect(await view('lan')).toMatchObject({ clients: 1 });
  });

  it('moves to another port: the old one is closed, registers and counters stay', async () => {
    const [old, port] = [await tcpPort(), await freePort()];
    const master = await tcpMaster(old);
    await master.writeRegister(2, 33);
    expect(await changed('lan', { tcp: { port } })).toMatchObject({
      state: 'open',
      place: `127.0.0.1:${port}`,
      clients: 0,
    });
    await until(() => !master.isOpen, 'the client is disconnected');
    await expect(tcpMaster(old)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const again = await tcpMaster(port);
    expect((await again.readHoldingRegisters(0, 3)).data).toEqual([1, 2, 33]);
    expect((await view('lan')).counters.requests).toBe(2);
  });

  it('listens at all addresses of the same port', async () => {
    const port = await tcpPort();
    expect(await changed('lan', { tcp: { host: '0.0.0.0', port } })).toMatchObject({
      state: 'open',
      place: `0.0.0.0:${port}`,
    });
    expect((await (await tcpMaster(port)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('becomes a virtual serial line, and a TCP line again', async () => {
    await (await tcpMaster(await tcpPort())).writeRegister(0, 55);
    const other = join(directory, 'other');
    await changed('lan', { tcp: null, serial: { path: 'virtual', link: other } });
    expect((await (await serialMaster(other)).readHoldingRegisters(0, 1)).data).toEqual([55]);
    await changed('lan', { serial: null, tcp: { port: 0 } });
    expect(existsSync(other)).toBe(false);
    const outside = join(directory, '..', 'outside');
    const { status, body } = await rest.send<{ error: string }>('PUT', '/api/v1/lines/lan', {
      tcp: null,
      serial: { path: 'virtual', link: outside },
    });
    expect([status, body.error]).toEqual([
      400,
      `serial.link: expected a path in ${directory}, where REST may write`,
    ]);
    expect((await (await tcpMaster(await tcpPort())).readHoldingRegisters(0, 1)).data).toEqual([55]);
  });
});

describe('changes at the same time', () => {
  it('all take effect, one after the other', async () => {
    const master = await serialMaster(link);
    const speeds = [1200, 2400, 4800, 9600, 38400, 57600, 115200];
    const answers = await Promise.all([
      ...speeds.map((baudRate) => put('bench', { serial: { baudRate } })),
      put('bench', { timing: { gap: 50 } }),
      put('bench', { units: { 1: 'meter', 2: 'valve' } }),
      put('lan', { tcp: { port: await freePort() } }),
      put('lan', { missingUnit: 'silence' }),
      post('bench', 'restart'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await view('bench')).settings).toMatchObject({
      serial: { baudRate: 115200 },
      timing: { gap: 50 },
      units: { 1: 'meter', 2: 'valve' },
    });
    expect((await view('lan')).settings).toMatchObject({ missingUnit: 'silence' });
    // The restart has made another pseudo-terminal of it.
    await until(() => !master.isOpen, 'the client is disconnected');
    expect((await (await serialMaster(link)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('answer a client under load throughout', async () => {
    const master = await serialMaster(link);
    let done = false;
    let read = 0;
    const load = (async () => {
      for (; !done; read++) expect((await master.readHoldingRegisters(0, 3)).data).toEqual([1, 2, 3]);
    })();
    for (let i = 0; i < 20; i++) {
      await changed('bench', { units: { 1: 'meter', [i + 2]: 'valve' } });
      await sleep(5);
    }
    done = true;
    await load;
    expect(read).toBeGreaterThan(5);
  });
});

describe('stop, start and restart', () => {
  it('a stopped TCP line refuses connections, a started one serves on the same port', async () => {
    const port = await freePort();
    await changed('lan', { tcp: { port } });
    const master = await tcpMaster(port);
    expect(await view('lan')).toMatchObject({ state: 'open', clients: 1 });
    expect(await post('lan', 'stop')).toMatchObject({
      status: 200,
      body: { state: 'stopped', reason: null, uptime: null, clients: 0 },
    });
    await until(() => !master.isOpen, 'the client is disconnected');
    await expect(tcpMaster(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await post('lan', 'stop')).toMatchObject({ status: 200, body: { state: 'stopped' } });
    expect(await post('lan', 'start')).toMatchObject({ status: 200, body: { state: 'open', reason: null } });
    const again = await tcpMaster(port);
    expect((await again.readHoldingRegisters(0, 1)).data).toEqual([1]);
    expect(await post('lan', 'start')).toMatchObject({ status: 200, body: { clients: 1 } });
    expect((await again.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a restarted line closes its connections and serves again', async () => {
    const port = await freePort();
    await changed('lan', { tcp: { port } });
    const master = await tcpMaster(port);
    expect(await post('lan', 'restart')).toMatchObject({ status: 200, body: { state: 'open', clients: 0 } });
    await until(() => !master.isOpen, 'the client is disconnected');
    expect((await (await tcpMaster(port)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it.each([
    ['stop', 'start'],
    ['restart', 'restart'],
  ])(
    'an ASCII line that a client has given another delimiter has the usual one after %s, %s',
    async (...commands) => {
      const port = await freePort();
      await changed('lan', { framing: 'ascii', tcp: { port } });
      // Function 8/3: messages end with a semicolon from then on.
      expect(await ask(port, ':010800033B00B9\r\n')).toBe(':010800033B00B9\r\n');
      expect(await ask(port, ':010300000001FB\r;')).toBe(':0103020001F9\r;');
      for (const command of commands) expect(await post('lan', command)).toMatchObject({ status: 200 });
      expect(await ask(port, ':010300000001FB\r\n')).toBe(':0103020001F9\r\n');
    },
  );

  it('a stopped virtual line has no port and no link', async () => {
    const { body } = await post('bench', 'stop');
    expect(body).toMatchObject({ state: 'stopped', place: 'virtual', link: null });
    expect(existsSync(link)).toBe(false);
    expect(await changed('bench', { serial: { baudRate: 9600 } })).toMatchObject({ state: 'stopped' });
    expect(await post('bench', 'start')).toMatchObject({ status: 200, body: { state: 'open', link } });
    expect((await (await serialMaster(link)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a port of another program is refused with one code, whatever the request', async () => {
    const tcp = { port: await takenPort() };
    const answers = [
      await rest.send('POST', '/api/v1/lines', { name: 'new', tcp, units: { 1: 'meter' } }),
      await put('lan', { tcp }),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 409, body: { code: 'line.port_busy' } });
    await post('lan', 'stop');
    await changed('lan', { tcp });
    expect(await post('lan', 'start')).toMatchObject({ status: 409, body: { code: 'line.port_busy' } });
  });

  it('a start that the system refuses says why, and the line can be mended', async () => {
    const port = await takenPort();
    await post('lan', 'stop');
    expect(await changed('lan', { tcp: { port } })).toMatchObject({ state: 'stopped' });
    const answer = await post('lan', 'start');
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining(String(port)) } });
    expect(await view('lan')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(String(port)),
    });
    await changed('lan', { tcp: { port: 0 } });
    expect(await post('lan', 'start')).toMatchObject({ status: 200, body: { state: 'open', reason: null } });
  });

  it('uptime counts from the last opening', async () => {
    await sleep(50);
    const before = await view('lan');
    expect(before.uptime).toBeGreaterThanOrEqual(0.05);
    const begin = performance.now();
    const { body } = await post('lan', 'restart');
    // Rounded to a ms.
    expect(body.uptime).toBeLessThanOrEqual((performance.now() - begin + 1) / 1000);
    await sleep(20);
    expect((await view('lan')).uptime).toBeGreaterThan(body.uptime);
  });
});
