import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { bytesOf, hexOf } from '../../../modbus/protocol/hex.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';

const SETUP = {
  devices: {
    meter: { registers: { holding: [{ address: 0, value: 7, name: 'power', write: true }] } },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

const PUMP = {
  name: 'pump',
  identity: { vendorName: 'A' },
  registers: {
    holding: [
      { address: 0, value: [4711, 2] },
      { address: 2, name: 'flow', signal: { expression: 'meter.power * 2' } },
    ],
  },
};

interface ErrorBody {
  readonly error: string;
}

/** The response PDU to a request, on a connection of its own. */
async function ask(running: RunningSimulator, line: string, unitId: number, pdu: string): Promise<string> {
  const client = running.client(line);
  client.send(SOCKET.encode({ unitId, transactionId: 1, pdu: bytesOf(pdu) }));
  const [response] = await client.responsesOf(1);
  return response ? hexOf(response.pdu) : 'closed';
}

const start = () => startSimulator(nativeSetup(SETUP));

async function send(
  running: RunningSimulator,
  method: 'POST' | 'DELETE' | 'PUT',
  url: string,
  body?: object,
) {
  const answer = await running.rest.send<ErrorBody>(method, `/api/v1${url}`, body);
  return { ...answer, error: answer.body?.error };
}

describe('a device that is added over REST', () => {
  stopAfterEach();

  it('is there, and serves as soon as a unit names it', async () => {
    const running = await start();
    const made = await send(running, 'POST', '/devices', PUMP);
    expect(made).toMatchObject({ status: 201, body: { name: 'pump', names: ['flow'], lines: {} } });
    expect((await send(running, 'PUT', '/lines/lan', { units: { 1: 'meter', 5: 'pump' } })).status).toBe(200);
    expect(await ask(running, 'lan', 5, '03 0000 0003')).toBe('03 06 12 67 00 02 00 0e'.replaceAll(' ', ''));
  });

  it.each([
    [{ ...PUMP, name: '' }, 400, 'name: expected a device name of 1 to 64 characters, not "." or ".."'],
    [{ registers: {} }, 400, 'name: missing, expected a name'],
    [{ name: 'a' }, 400, 'missing, expected registers, or pymodbus with the path of a pymodbus file'],
    [
      { name: 'a', registers: { holding: [{ address: 0, typ: 'int16' }] } },
      400,
      /^registers\.holding\[0\]\.typ: unknown key "typ", did you mean "type"\?/,
    ],
    [
      { name: 'a', registers: { holding: [{ address: 0, signal: { expression: 'metre.power' } }] } },
      400,
      /^registers\.holding\[0\]\.signal\.expression: unknown name "metre\.power", did you mean "meter\.power"\?/,
    ],
    [
      {
        name: 'a',
        registers: {
          holding: [{ address: 26, quantity: 10 }, { address: 27 }, { address: 0, quantity: 100 }],
        },
      },
      400,
      /^registers\.holding\[2\]: address 26 is already defined by registers\.holding\[0\]/,
    ],
    [{ name: 'a', pymodbus: '/etc/passwd' }, 400, /^pymodbus: a pymodbus file is read only at the start/],
    [{ name: 'meter', registers: {} }, 409, 'a device named meter already exists'],
  ])('is refused, and nothing is added: %j', async (body, status, message) => {
    const running = await start();
    const answer = await send(running, 'POST', '/devices', body);
    expect(answer.status).toBe(status);
    expect(answer.error).toMatch(message);
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
  });
});

describe('a device that is removed over REST', () => {
  stopAfterEach();

  it('is gone when nothing uses it', async () => {
    const running = await start();
    await send(running, 'POST', '/devices', PUMP);
    expect(await send(running, 'DELETE', '/devices/pump')).toMatchObject({ status: 204 });
    expect(await send(running, 'DELETE', '/devices/pump')).toMatchObject({ status: 404 });
    expect(await send(running, 'POST', '/devices', PUMP)).toMatchObject({ status: 201 });
  });

  it('stays while a line uses it, and goes with its units and copies when that is forced', async () => {
    const running = await start();
    await send(running, 'POST', '/devices', { name: 'plain', registers: {} });
    await send(running, 'PUT', '/lines/lan', { units: { 1: 'meter', 2: 'plain', 3: { copyOf: 'plain' } } });
    expect(await send(running, 'DELETE', '/devices/plain')).toMatchObject({
      status: 409,
      error: 'line lan has units with the device; remove them first, or use force to remove both',
    });
    expect(await send(running, 'DELETE', '/devices/plain?force=perhaps')).toMatchObject({ status: 400 });
    expect(await send(running, 'DELETE', '/devices/plain?force')).toMatchObject({ status: 204 });
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
    expect([...(running.simulator.lines.get('lan')?.definition.units ?? [])]).toEqual([[1, 'meter']]);
  });

  it('stays even when that is forced, while something else needs it', async () => {
    const running = await start();
    await send(running, 'POST', '/devices', PUMP);
    const refusal = async () => (await send(running, 'DELETE', '/devices/meter?force')).error;
    expect(await refusal()).toBe('a signal of device pump needs a value of the device');
    await send(running, 'DELETE', '/devices/pump');
    await send(running, 'POST', '/faults', { name: 'r', when: { name: 'meter.power' }, do: { delay: 1 } });
    expect(await refusal()).toBe('fault rule r names a value of the device; remove the rule first');
    await send(running, 'DELETE', '/faults/r');
    expect(await refusal()).toBe('line lan has no other units; remove the line first');
  });
});

describe('a line that is added over REST', () => {
  stopAfterEach();

  it('is open, with the devices that it names', async () => {
    const running = await start();
    const line = { name: 'more', tcp: { port: 0 }, units: { 9: 'meter', 10: { copyOf: 'meter' } } };
    const made = await send(running, 'POST', '/lines', line);
    expect(made).toMatchObject({ status: 201, body: { name: 'more', state: 'open', units: { 9: 'meter' } } });
    expect(await ask(running, 'more', 9, '06 0000 0008')).toBe('0600000008');
    expect(await ask(running, 'lan', 1, '03 0000 0001')).toBe('03020008');
    expect(await ask(running, 'more', 10, '03 0000 0001')).toBe('03020007');
  });

  it.each([
    [{ name: 'a', units: { 1: 'meter' } }, 400, 'expected one of serial, tcp, udp, tls, got none of them'],
    [{ name: 'a', tcp: { port: 0 } }, 400, /^units: missing, expected unit identifiers/],
    [{ name: 'a', tcp: { port: 0 }, units: { 1: 'metre' } }, 400, /^units\.1: unknown device "metre"/],
    [{ name: 'lan', tcp: { port: 0 }, units: { 1: 'meter' } }, 409, 'a line named lan already exists'],
    [
      { name: 'a', serial: { path: '/dev/ttyNowhere' }, units: { 1: { copyOf: 'meter' } } },
      409,
      /^\/dev\/ttyNowhere: does not exist/,
    ],
  ])('is refused, and not kept: %j', async (body, status, message) => {
    const running = await start();
    const answer = await send(running, 'POST', '/lines', body);
    expect(answer.status).toBe(status);
    expect(answer.error).toMatch(message);
    expect([...running.simulator.lines.keys()]).toEqual(['lan']);
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
  });

  it('is refused when another line has its link', async () => {
    const running = await startSimulator(nativeSetup(SETUP, tmpdir()));
    const line = (name: string, directory = tmpdir()) => ({
      name,
      serial: { path: 'virtual', link: join(directory, `additions-${process.pid}`) },
      units: { 1: 'meter' },
    });
    expect((await send(running, 'POST', '/lines', line('out', '/'))).error).toBe(
      `serial.link: expected a path in ${tmpdir()}, where REST may write`,
    );
    expect(await send(running, 'POST', '/lines', line('one'))).toMatchObject({ status: 201 });
    expect((await send(running, 'POST', '/lines', line('two'))).error).toMatch(
      /^serial\.link: .* is already used by line one$/,
    );
  });

  it.each([
    ['is added', 'POST', '/lines', { name: 'more', units: { 1: 'meter' } }],
    ['is stopped and changed', 'PUT', '/lines/lan', {}],
  ] as const)('is refused the port of REST when it %s', async (_, method, url, more) => {
    const running = await start();
    await send(running, 'POST', '/lines/lan/stop');
    const { port } = running.simulator.running.api;
    const answer = await send(running, method, url, { ...more, tcp: { port }, start: 'waiting' });
    expect(answer).toMatchObject({
      status: 400,
      error: `tcp.port: 127.0.0.1:${port} is already used by REST`,
    });
  });

  it('is one of at most 64', async () => {
    const running = await start();
    const add = (name: string) =>
      send(running, 'POST', '/lines', { name, udp: { port: 0 }, units: { 1: 'meter' } });
    for (let i = 1; i < 64; i++) expect((await add(`line ${i}`)).status).toBe(201);
    expect(await add('line 64')).toMatchObject({ status: 409, error: 'expected at most 64 lines' });
  });
});

describe('a line that is removed over REST', () => {
  stopAfterEach();

  it('is closed, and its port and its copies are free', async () => {
    const running = await start();
    const line = { name: 'more', tcp: { port: 0 }, units: { 10: { copyOf: 'meter' } } };
    await send(running, 'POST', '/lines', line);
    const port = running.port('more');
    const client = running.client('more');
    await until(() => client.connected, 'the client is connected');
    expect(await send(running, 'DELETE', '/lines/more')).toMatchObject({ status: 204 });
    await until(() => client.closed, 'the client is closed');
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
    expect(await send(running, 'DELETE', '/lines/more')).toMatchObject({ status: 404 });
    expect(await send(running, 'POST', '/lines', { ...line, tcp: { port } })).toMatchObject({ status: 201 });
  });

  it('stays when it is the last one, or when a fault rule is for it', async () => {
    const running = await start();
    expect(await send(running, 'DELETE', '/lines/lan')).toMatchObject({
      status: 409,
      error: "the last line can't be removed: a configuration needs one",
    });
    await send(running, 'POST', '/lines', { name: 'more', tcp: { port: 0 }, units: { 1: 'meter' } });
    await send(running, 'POST', '/faults', { name: 'r', when: { line: ['lan'] }, do: { delay: 1 } });
    expect(await send(running, 'DELETE', '/lines/lan')).toMatchObject({
      status: 409,
      error: 'fault rule r refers to the line; remove the rule first',
    });
  });
});

describe('the traffic of a line that comes or goes', () => {
  stopAfterEach();

  it('is found by its name as soon as it is there, and after it has gone', async () => {
    const running = await start();
    const paths = ['traffic', 'exchanges', 'capture.pcapng'].map((path) => `/api/v1/${path}?line=second`);
    const statuses = () =>
      Promise.all(paths.map(async (url) => (await running.rest.app.inject(url)).statusCode));
    expect(await statuses()).toEqual([400, 400, 400]);
    await send(running, 'POST', '/lines', { name: 'second', tcp: { port: 0 }, units: { 1: 'meter' } });
    expect(await statuses()).toEqual([200, 200, 200]);
    await send(running, 'DELETE', '/lines/second');
    expect(await statuses()).toEqual([200, 200, 200]);
  });
});
