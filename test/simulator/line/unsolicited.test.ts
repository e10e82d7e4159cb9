import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import modbusSerial from 'modbus-serial';
import { SerialPort } from 'serialport';
import { afterEach, describe, expect, it } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* What a line sends unsolicited, as clients see it: modbus-serial, and whoever listens. */

type Client = InstanceType<typeof modbusSerial.default>;

/** Unit 1 has 7, 8 and 9. The stranger is unit 9, and says that its register is 99. */
const STRANGER = { frame: { unit: 9, pdu: '03 02 00 63' } };

stopAfterEach();
const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(unsolicited?: object) {
  const running = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [7, 8, 9], write: true }] } } },
      lines: {
        bench: { serial: { path: 'virtual' }, units: { 1: 'meter' }, ...(unsolicited && { unsolicited }) },
        lan: { tcp: { port: 0 }, units: { 1: 'meter' }, ...(unsolicited && { unsolicited }) },
      },
    }),
  );
  const view = async (line: string) => (await running.rest.send('GET', `/api/v1/lines/${line}`)).body as View;
  const put = (line: string, settings: object) =>
    running.rest.send<View>('PUT', `/api/v1/lines/${line}`, settings);
  const events = async (line: string) => {
    const { body } = await running.rest.send('GET', `/api/v1/traffic?line=${line}&kind=unsolicited`);
    return (body as { events: Event[] }).events;
  };
  return { ...running, view, put, events };
}

interface View {
  readonly place: string;
  readonly settings: { readonly unsolicited?: unknown };
  readonly counters: Readonly<Record<string, number>>;
}

interface Event {
  readonly direction: string;
  readonly bytes: string;
  readonly text: string;
  readonly client?: string;
}

/** modbus-serial on a serial line, and the time it waits for a reply, in ms. */
async function master(path: string, timeout: number): Promise<Client> {
  const client = new modbusSerial.default();
  await client.connectRTUBuffered(path, { baudRate: 19200, parity: 'even' });
  client.setID(1);
  client.setTimeout(timeout);
  ends.push(() => new Promise<void>((resolve) => client.close(resolve)));
  return client;
}

const until = (holds: () => boolean | Promise<boolean>) => expect.poll(holds).toBe(true);

/** Everything that arrives at a port or a connection, as hexadecimal text. */
function heardAt(stream: SerialPort | Socket): () => string {
  let heard = '';
  stream.on('data', (bytes: Buffer) => {
    heard += bytes.toString('hex');
  });
  return () => heard;
}

async function listener(path: string): Promise<() => string> {
  const port = new SerialPort({ path, baudRate: 19200 });
  await once(port, 'open');
  ends.push(() => new Promise((resolve) => port.close(resolve)));
  return heardAt(port);
}

async function connection(port: number): Promise<() => string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  ends.push(() => socket.destroy());
  return heardAt(socket);
}

describe('a serial line', () => {
  it('sends a stray byte while it is idle, which is no reply', async () => {
    const { view, events } = await start({ bytes: '00', every: '50ms', jitter: '20ms' });
    const heard = await listener((await view('bench')).place);
    await until(() => heard().startsWith('0000'));
    const [event] = await events('bench');
    expect(event).toMatchObject({ direction: 'out', bytes: '00', text: 'sent unsolicited: 1 byte' });
    await until(async () => ((await view('bench')).counters.unsolicited ?? 0) > 1);
    const { counters } = await view('bench');
    expect(counters).toMatchObject({ requests: 0, replies: 0, echoes: 0, noiseBytes: 0 });
  });

  it('is read by modbus-serial all the same between stray bytes', async () => {
    const { view } = await start({ bytes: '00', every: '40ms' });
    const client = await master((await view('bench')).place, 500);
    let right = 0;
    for (let tries = 0; right < 5 && tries < 30; tries++) {
      const read = await client.readHoldingRegisters(0, 3).catch(() => undefined);
      if (read === undefined) continue;
      expect(read.data).toEqual([7, 8, 9]);
      right++;
    }
    expect(right).toBe(5);
  });

  it('sends a stray frame before each reply, which spoils what modbus-serial reads, until the key is taken away', async () => {
    const { view, put } = await start({ frame: { unit: 1, pdu: '03 02 00 63' }, before: 'reply' });
    const { place } = await view('bench');
    const client = await master(place, 1000);
    const read = () =>
      client.readHoldingRegisters(0, 1).then(
        ({ data }) => data[0],
        () => undefined,
      );
    // The stray frame for the reply; or an error, where it finds both frames at once.
    expect([99, undefined]).toContain(await read());
    await until(async () => (await view('bench')).counters.replies === 1);
    expect((await view('bench')).counters).toMatchObject({ requests: 1, replies: 1, unsolicited: 1 });
    const changed = await put('bench', { unsolicited: null });
    expect(changed.status).toBe(200);
    // The port is the same, and the client goes on.
    expect(changed.body.place).toBe(place);
    expect(changed.body.settings.unsolicited).toBeUndefined();
    await until(async () => (await read()) === 7);
    expect((await view('bench')).counters).toMatchObject({ unsolicited: 1 });
  });

  it('sends the request of a second master, which none of its devices executes', async () => {
    const { view, put, rest } = await start();
    const { place } = await view('bench');
    const heard = await listener(place);
    const write = { frame: { unit: 1, pdu: '06 00 00 00 63' }, every: '30ms' };
    const changed = await put('bench', { unsolicited: write });
    expect(changed.body.settings.unsolicited).toEqual([
      { frame: { unit: 1, pdu: '06 00 00 00 63' }, every: 30 },
    ]);
    const url = '/api/v1/configuration';
    const written = await rest.app.inject({ method: 'GET', url, headers: { host: 'localhost' } });
    expect(written.body).toContain('06 00 00 00 63');
    await until(() => heard().includes('010600000063'));
    expect((await view('bench')).counters).toMatchObject({ requests: 0, echoes: 0 });
    await put('bench', { unsolicited: null });
    for (const end of ends.splice(0)) await end();
    const client = await master(place, 30_000);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([7]);
  });

  it('that is stopped sends nothing, and begins again when it is started', async () => {
    const { view, rest } = await start({ bytes: 'ff', every: '20ms' });
    const heard = await listener((await view('bench')).place);
    await until(() => heard().length > 0);
    for (const end of ends.splice(0)) await end();
    await rest.send('POST', '/api/v1/lines/bench/stop');
    await rest.send('POST', '/api/v1/lines/bench/start');
    const again = await listener((await view('bench')).place);
    await until(() => again().length > 0);
  });

  it('refuses it as a monitor', async () => {
    const { put } = await start();
    const { status, body } = await put('bench', {
      ...{ mode: 'monitor', units: {} },
      unsolicited: { bytes: '00', every: '5s' },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('a line with mode monitor never sends a byte');
  });
});

describe('a TCP line', () => {
  it('sends to each client that is there', async () => {
    const { port, events } = await start({ ...STRANGER, every: '30ms' });
    const heard = [await connection(port('lan')), await connection(port('lan'))];
    await until(() => heard.every((each) => each().includes('0000000000050903020063')));
    const clients = new Set((await events('lan')).map(({ client }) => client));
    expect(clients.size).toBe(2);
  });

  it('sends bytes once after the reply that a client waits for', async () => {
    const { simulator, addRule, port } = await start();
    addRule({ name: 'late', do: [{ delay: 300 }] });
    const socket = connect(port('lan'), '127.0.0.1');
    await once(socket, 'connect');
    ends.push(() => socket.destroy());
    const heard = heardAt(socket);
    socket.write(Buffer.from('000100000006010300000001', 'hex'));
    const lan = simulator.lines.get('lan');
    await until(() => lan?.counters.requests === 1);
    lan?.sendUnsolicited(Uint8Array.of(0, 255));
    await until(() => heard().endsWith('00ff'));
    expect(heard()).toBe('000100000005010302000700ff');
  });

  it('sends before a reply, and modbus-serial waits for the right transaction', async () => {
    const { port, view } = await start({ ...STRANGER, before: 'reply' });
    const client = new modbusSerial.default();
    await client.connectTCP('127.0.0.1', { port: port('lan') });
    ends.push(() => new Promise<void>((resolve) => client.close(resolve)));
    client.setID(1);
    client.setTimeout(30_000);
    expect((await client.readHoldingRegisters(0, 3)).data).toEqual([7, 8, 9]);
    await until(async () => (await view('lan')).counters.unsolicited === 1);
    expect((await view('lan')).counters).toMatchObject({ requests: 1, replies: 1, unsolicited: 1 });
  });
});
