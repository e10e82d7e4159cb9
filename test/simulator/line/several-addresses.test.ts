import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import modbusSerial from 'modbus-serial';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { nativeMistakes } from '../../document/helpers.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

const HOSTS = Array.from({ length: 8 }, (_, i) => `127.1.0.${i + 1}`);
const METER = {
  registers: {
    holding: [
      { address: 0, value: [1, 2], write: true },
      { address: 2, name: 'voltage', value: 230, write: true },
      { address: 10, type: 'float32', name: 'noise', signal: { noise: { around: 0, amplitude: 1000 } } },
    ],
  },
};
const plant = (more: object = {}) => ({
  tcp: { hosts: `${HOSTS[0]}-${HOSTS.at(-1)}`, port: 0 },
  units: { 1: 'meter' },
  each: { copyOf: 'meter' },
  ...more,
});
const setup = (line: object = plant(), devices: object = { meter: METER }) =>
  nativeSetup({ devices, lines: { plant: line } });

// Its types describe an ES module, but it is a CommonJS module.
const ModbusRTU = modbusSerial as unknown as typeof modbusSerial.default;
const clients: InstanceType<typeof ModbusRTU>[] = [];
stopAfterEach();
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy(() => {});
});

function portOf({ simulator }: RunningSimulator): number {
  const state = simulator.lines.get('plant')?.state;
  if (state?.kind !== 'open') throw new Error(`the line is ${state?.kind}`);
  return state.port ?? 0;
}

async function clientAt(running: RunningSimulator, host: string): Promise<InstanceType<typeof ModbusRTU>> {
  const client = new ModbusRTU();
  clients.push(client);
  await client.connectTCP(host, { port: portOf(running) });
  client.setTimeout(30_000);
  client.setID(1);
  return client;
}

const get = ({ rest }: RunningSimulator, url: string) =>
  rest.app.inject({ method: 'GET', url, headers: { host: 'localhost' } });

/** What a client reads from address 0 on at each address of the line. */
async function readAll(running: RunningSimulator, quantity = 1): Promise<number[][]> {
  const values = [];
  for (const host of HOSTS) {
    const client = await clientAt(running, host);
    values.push((await client.readHoldingRegisters(0, quantity)).data);
  }
  return values;
}

describe('a line with several addresses', () => {
  it('has a device of its own at each, on one port', async () => {
    const running = await startSimulator(setup());
    for (const [i, host] of HOSTS.entries()) await (await clientAt(running, host)).writeRegister(0, 100 + i);
    expect((await readAll(running)).flat()).toEqual(HOSTS.map((_, i) => 100 + i));
    expect(holding(running, 'meter@127.1.0.5', 0, 2)).toEqual([104, 2]);
    expect(holding(running, 'meter', 0, 2)).toEqual([1, 2]);
  });

  it('has the same devices at all of them without each', async () => {
    const { each: _, ...shared } = plant();
    const running = await startSimulator(setup(shared));
    await (await clientAt(running, '127.1.0.3')).writeRegister(0, 77);
    expect((await readAll(running)).flat()).toEqual(HOSTS.map(() => 77));
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
  });

  it('has random values of its own at each address', async () => {
    const running = await startSimulator(setup());
    const texts = HOSTS.map((host) => {
      const device = running.simulator.devices.get(`meter@${host}`);
      return String(device?.tables.holding.readWords(10, 2));
    });
    expect(new Set(texts).size).toBe(HOSTS.length);
  });

  it('has another device where the file has one of that name', async () => {
    const other = { registers: { holding: [{ address: 0, value: 4711 }] } };
    const running = await startSimulator(setup(plant(), { meter: METER, 'meter@127.1.0.2': other }));
    expect((await readAll(running)).flat()).toEqual([1, 4711, 1, 1, 1, 1, 1, 1]);
  });

  it('answers on UDP from the address that was asked', async () => {
    const { createSocket } = await import('node:dgram');
    const { tcp, ...rest } = plant();
    const running = await startSimulator(setup({ ...rest, udp: tcp }));
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    const answer = once(socket, 'message');
    socket.send(Buffer.from('000100000006010300000001', 'hex'), portOf(running), '127.1.0.7');
    const [, { address }] = await answer;
    socket.close();
    expect(address).toBe('127.1.0.7');
  });

  it('shows in traffic and in captures which address a client came to', async () => {
    const running = await startSimulator(setup());
    for (const host of ['127.1.0.2', '127.1.0.6'])
      await (await clientAt(running, host)).readHoldingRegisters(2, 1);
    const { body } = await running.rest.send<{
      events: { kind: string; host: string; names?: string[] }[];
    }>('GET', '/api/v1/traffic?host=127.1.0.6');
    expect(body.events.map(({ kind, host }) => [kind, host])).toEqual(
      ['client', 'request', 'reply'].map((kind) => [kind, '127.1.0.6']),
    );
    expect(body.events[1]?.names).toEqual(['meter@127.1.0.6.voltage']);
    const capture = await get(running, '/api/v1/capture.pcapng?host=127.1.0.6');
    expect(capture.rawPayload.includes(Buffer.from([127, 0, 0, 1, 127, 1, 0, 6]))).toBe(true);
    expect(capture.rawPayload.includes(Buffer.from([127, 1, 0, 2]))).toBe(false);
  });

  it('misbehaves at one address when a rule names its device', async () => {
    const running = await startSimulator(setup());
    running.addRule({ name: 'broken', when: { device: 'meter@127.1.0.4' }, do: [{ exception: 4 }] });
    const outcomes = [];
    for (const host of HOSTS) {
      const client = await clientAt(running, host);
      outcomes.push(
        await client.readHoldingRegisters(0, 1).then(
          () => 'read',
          () => 'exception',
        ),
      );
    }
    expect(outcomes).toEqual(HOSTS.map((host) => (host === '127.1.0.4' ? 'exception' : 'read')));
  });

  it('is one line in REST, and a device for each address, whose values can be set', async () => {
    const { rest } = await startSimulator(setup());
    const line = await rest.send<object>('GET', '/api/v1/lines/plant');
    expect(line.body).toMatchObject({
      description: expect.stringMatching(
        /^Modbus TCP on 127\.1\.0\.1-127\.1\.0\.8:\d+ \(8 addresses\), units 1$/,
      ),
      settings: { tcp: { hosts: '127.1.0.1-127.1.0.8', maxClients: 256 }, each: { copyOf: 'meter' } },
      units: { 1: 'meter' },
    });
    const set = await rest.send('PUT', '/api/v1/devices/meter@127.1.0.5/values/voltage', { value: 199 });
    expect(set.status).toBe(200);
    const one = await rest.send<object>('GET', '/api/v1/devices/meter@127.1.0.5/values/voltage');
    expect(one.body).toMatchObject({ value: 199 });
    const all = await rest.send<{ devices: { name: string; lines: object }[] }>('GET', '/api/v1/devices');
    expect(all.body.devices.map(({ name, lines }) => [name, lines])).toEqual([
      ['meter', {}],
      ...HOSTS.map((host) => [`meter@${host}`, { plant: ['1'] }]),
    ]);
  });

  it('stands in the configuration in one entry, with the devices that were changed', async () => {
    const running = await startSimulator(setup());
    await (await clientAt(running, '127.1.0.5')).writeRegister(0, 555);
    const written = (await get(running, '/api/v1/configuration')).body;
    expect(written.match(/^ {2}meter.*:|^ {2}"meter.*:/gm)).toEqual(['  meter:', '  "meter@127.1.0.5":']);
    await running.stop();
    const again = await startSimulator(nativeSetup(parse(written)));
    expect((await readAll(again)).flat()).toEqual([1, 1, 1, 1, 555, 1, 1, 1]);
  });

  it('gets other addresses while it serves, and the devices of those that stay keep their registers', async () => {
    const running = await startSimulator(setup());
    await (await clientAt(running, '127.1.0.1')).writeRegister(0, 9);
    const put = (tcp: object) => running.rest.send<object>('PUT', '/api/v1/lines/plant', { tcp });
    expect((await put({ hosts: '127.1.0.1,127.1.0.9' })).status).toBe(200);
    const values = [];
    for (const host of ['127.1.0.1', '127.1.0.9'])
      values.push((await (await clientAt(running, host)).readHoldingRegisters(0, 1)).data[0]);
    expect(values).toEqual([9, 1]);
  });
});

it('has room for as many clients as its addresses need after a change, unless it says how many', async () => {
  const running = await startSimulator(setup());
  const put = async (tcp: object) => {
    const { body } = await running.rest.send<{ settings: { tcp: { maxClients: number } } }>(
      'PUT',
      '/api/v1/lines/plant',
      { tcp },
    );
    return body.settings.tcp.maxClients;
  };
  expect(await put({ hosts: '127.1.0.1-127.1.0.200' })).toBe(400);
  expect(await put({ hosts: '127.1.0.1-127.1.0.8' })).toBe(256);
  expect(await put({ maxClients: 3 })).toBe(3);
  expect(await put({ hosts: '127.1.0.1-127.1.0.200' })).toBe(3);
  expect(await put({ maxClients: null })).toBe(400);
});

describe('an address that a line can not have', () => {
  it('is named, and nothing stays open', async () => {
    const taken = createServer().listen(0, '127.1.0.7');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const running = await startSimulator(
      nativeSetup({ devices: { meter: METER }, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } }),
    );
    const { body, status } = await running.rest.send<object>('POST', '/api/v1/lines', {
      name: 'plant',
      ...plant({ tcp: { hosts: '127.1.0.1-127.1.0.8', port } }),
    });
    expect({ status, ...body }).toMatchObject({
      status: 409,
      error: `Cannot listen on 127.1.0.7:${port}: another program, or another line, has this port (EADDRINUSE).`,
    });
    expect([...running.simulator.devices.keys()]).toEqual(['meter']);
    for (const host of HOSTS.filter((each) => each !== '127.1.0.7')) {
      const free = createServer().listen(port, host);
      await once(free, 'listening');
      free.close();
    }
    taken.close();
  });

  it('ends those who have connected to the first addresses when the last one is not to be had', async () => {
    const running = await startSimulator(
      nativeSetup({ devices: { meter: METER }, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } }),
    );
    const probe = createServer().listen(0, '127.1.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as { port: number };
    await new Promise((resolve) => probe.close(resolve));
    let isOver = false;
    let connections = 0;
    const connecting = (async () => {
      while (!isOver) {
        const socket = connect(port, '127.1.0.1');
        socket.on('error', () => {});
        const came = await Promise.race([
          once(socket, 'connect').then(() => true),
          once(socket, 'close').then(() => false),
        ]).catch(() => false);
        if (came) connections++;
        if (came) await once(socket, 'close');
      }
    })();
    // The last one is for documentation (RFC 5737), so this machine does not have it.
    const { body, status } = await running.rest.send<object>('POST', '/api/v1/lines', {
      name: 'plant',
      ...plant({ tcp: { hosts: '127.1.0.1-127.1.3.232, 192.0.2.1', port } }),
    });
    isOver = true;
    expect({ status, ...body }).toMatchObject({ status: 409, error: expect.stringContaining('192.0.2.1') });
    await connecting;
    expect(connections).toBeGreaterThan(0);
    expect([...running.simulator.lines.keys()]).toEqual(['lan']);
  });

  it('is refused with its place in the file', () => {
    const mistakes = (lines: object) => nativeMistakes(JSON.stringify({ devices: { meter: METER }, lines }));
    expect(mistakes({ plant: plant({ tcp: { hosts: '127.1.0.1-127.1.0.x' } }) })).toEqual([
      'lines.plant.tcp.hosts: expected IPv4 addresses and ranges of them, such as 127.1.0.1-127.1.3.232, separated by commas, got "127.1.0.1-127.1.0.x"',
    ]);
    expect(mistakes({ plant: plant({ tcp: { hosts: '127.1.0.1', host: '127.0.0.1' } }) })).toEqual([
      'lines.plant.tcp.hosts: expected either host or hosts',
    ]);
    expect(mistakes({ plant: plant({ tcp: {} }) })).toEqual([
      'lines.plant.each: expected hosts: a line needs several addresses before each can have its own device',
    ]);
    expect(mistakes({ plant: plant({ each: { copyOf: 'metre' } }) })).toEqual([
      'lines.plant.each.copyOf: unknown device "metre", did you mean "meter"? (known: meter)',
    ]);
    const tls = { cert: 'server.pem', key: 'server.key' };
    expect(mistakes({ plant: { tls, units: { 1: 'meter' } } })).toEqual([]);
    expect(mistakes({ plant: { tls: { ...tls, hosts: '127.1.0.1' }, units: { 1: 'meter' } } })).toEqual([
      'lines.plant.tls.hosts: expected one address, as host: only TCP and UDP lines can have several, got "127.1.0.1"',
    ]);
    const tcp = { hosts: '127.1.0.1-127.1.0.8', port: 1502 };
    expect(
      mistakes({
        plant: plant({ tcp }),
        lan: { tcp: { host: '127.1.0.3', port: 1502 }, units: { 1: 'meter' } },
      }),
    ).toEqual(['lines.lan.tcp.port: 127.1.0.3:1502 is already used by lines.plant.tcp.port']);
  });
});
