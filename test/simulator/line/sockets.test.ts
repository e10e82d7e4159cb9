import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import jsmodbus from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { readRequest } from '../../modbus/transport/socket/holding-registers.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Lines that are full, and requests that stand behind others, seen by modbus-serial, jsmodbus and bare sockets. */

type Client = InstanceType<typeof modbusSerial.default>;

stopAfterEach();
const clients: Client[] = [];
const leave = (client: Client) => new Promise<void>((resolve) => client.close(resolve));
afterEach(async () => {
  for (const client of clients.splice(0)) if (client.isOpen) await leave(client);
});

const start = (tcp: object, more: object = {}) =>
  startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [10, 11, 12, 13], write: true }] } } },
      lines: { lan: { tcp: { port: 0, ...tcp }, units: { 1: 'meter' } } },
      ...more,
    }),
  );

async function connect(running: RunningSimulator, timeout = 30_000): Promise<Client> {
  const client = new modbusSerial.default();
  clients.push(client);
  await client.connectTCP('127.0.0.1', { port: running.port('lan') });
  client.setID(1);
  client.setTimeout(timeout);
  return client;
}

const first = async (client: Client) => (await client.readHoldingRegisters(0, 1)).data[0];
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: Error) => error.message,
  );
const countersOf = ({ simulator }: RunningSimulator) => simulator.lines.get('lan')?.counters;
const slow = (ms: number) => ({ faults: [{ name: 'slow', do: { delay: ms } }] });
const ids = (responses: readonly { transactionId: number }[]) =>
  responses.map(({ transactionId }) => transactionId);
const joined = (...transactions: number[]) =>
  Buffer.concat(transactions.map((transaction) => readRequest(transaction, 0)));

describe('a line for one client', () => {
  it('closes a newcomer at once with whenFull: refuse, and serves the next one when the first has left', async () => {
    const running = await start({ maxClients: 1, whenFull: 'refuse' });
    const held = await connect(running);
    expect(await first(held)).toBe(10);
    const refused = running.client();
    await until(() => refused.closed, 'the newcomer is closed');
    expect(await first(held)).toBe(10);
    expect(countersOf(running)).toMatchObject({ rejected: 1 });
    await leave(held);
    await until(() => running.simulator.lines.get('lan')?.clients === 0, 'the first has left');
    expect(await first(await connect(running))).toBe(10);
  });

  it('leaves a newcomer without an answer with whenFull: ignore, until the first has left', async () => {
    const running = await start({ maxClients: 1, whenFull: 'ignore' });
    const held = await connect(running);
    expect(await first(held)).toBe(10);
    const ignored = await connect(running, 300);
    expect(await failure(first(ignored))).toBe('Timed out');
    expect(await first(held)).toBe(10);
    const waits = running.client();
    waits.send(joined(7, 8));
    await leave(ignored);
    await leave(held);
    expect(ids(await waits.responsesOf(2))).toEqual([7, 8]);
    expect(running.simulator.lines.get('lan')?.clients).toBe(1);
  });

  it('keeps no more than 64 newcomers waiting, and not what they send', async () => {
    const running = await start({ maxClients: 1, whenFull: 'ignore' });
    const held = await connect(running);
    expect(await first(held)).toBe(10);
    const newcomers = Array.from({ length: 80 }, () => running.client());
    for (const { socket } of newcomers) socket.write(Buffer.alloc(100_000, readRequest(1, 0)));
    const closed = () => newcomers.filter((newcomer) => newcomer.closed).length;
    await until(() => countersOf(running)?.rejected === 80 && closed() === 16, '16 are closed');
    expect(await first(held)).toBe(10);
    expect(newcomers.every(({ received }) => received.length === 0)).toBe(true);
  });

  it('lets jsmodbus push out the client before it with whenFull: evict, as without the key', async () => {
    const running = await start({ maxClients: 1, whenFull: 'evict' });
    const old = running.client();
    old.send(joined(1));
    await old.responsesOf(1);
    const socket = connectSocket(running.port('lan'), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const client = new jsmodbus.client.TCP(socket, 1);
    await once(socket, 'connect');
    expect([...(await client.readHoldingRegisters(0, 1)).response.body.valuesAsArray]).toEqual([10]);
    await until(() => old.closed, 'the old client is closed');
  });
});

describe('requests behind others on one connection', () => {
  it('are all answered with pipelining: serve', async () => {
    const running = await start({ pipelining: 'serve' }, slow(50));
    const client = running.client();
    client.send(joined(1, 2, 3));
    expect(ids(await client.responsesOf(3))).toEqual([1, 2, 3]);
  });

  it.each(['drop', 'one'] as const)('are lost in one segment with pipelining: %s', async (pipelining) => {
    const running = await start({ pipelining });
    const client = running.client();
    client.send(joined(1, 2, 3));
    await client.responsesOf(1);
    client.send(joined(4));
    expect(ids(await client.responsesOf(2))).toEqual([1, 4]);
    expect(countersOf(running)).toMatchObject({ requests: 2, replies: 2, dropped: 2 });
  });

  it.each([
    ['drop', [1, 3], 1],
    ['one', [1, 2, 3], 0],
  ] as const)('while a reply is pending: pipelining: %s', async (pipelining, answered, dropped) => {
    const late = { name: 'late', when: { count: 1 }, do: { delay: 2000 } };
    const running = await start({ pipelining }, { faults: [late] });
    const client = running.client();
    client.send(joined(1));
    await until(() => countersOf(running)?.requests === 1, 'the first has come');
    client.send(joined(2));
    await client.responsesOf(answered.length - 1);
    client.send(joined(3));
    expect(ids(await client.responsesOf(answered.length))).toEqual(answered);
    expect(countersOf(running)).toMatchObject({ dropped });
  });

  it('cost jsmodbus, which sends without waiting, a time-out, and modbus-serial in turn nothing', async () => {
    const running = await start({ pipelining: 'drop' }, slow(100));
    const socket = connectSocket(running.port('lan'), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    const pipelining = [
      new jsmodbus.client.TCP(socket, 1, 1000).readHoldingRegisters(0, 1),
      new jsmodbus.client.TCP(socket, 1, 1000).readHoldingRegisters(1, 1),
    ];
    const settled = await Promise.allSettled(pipelining);
    expect(settled.map(({ status }) => status)).toContain('rejected');
    const robust = await connect(running);
    for (let i = 0; i < 3; i++) expect(await first(robust)).toBe(10);
  });

  it('that a line of RTU over TCP loses are shown in the traffic', async () => {
    const running = await startSimulator(
      nativeSetup({
        devices: { meter: { registers: { holding: [{ address: 0, value: 10, write: true }] } } },
        lines: { lan: { tcp: { port: 0, pipelining: 'one' }, framing: 'rtu', units: { 1: 'meter' } } },
      }),
    );
    const client = running.client();
    const [write, read] = [Uint8Array.of(6, 0, 0, 0, 7), Uint8Array.of(3, 0, 0, 0, 1)];
    client.send(Buffer.concat([encodeRtu(1, write), encodeRtu(1, read)]));
    await until(() => countersOf(running)?.dropped === 1, 'the second is lost');
    expect(countersOf(running)).toMatchObject({ requests: 1, dropped: 1 });
    const { body } = await running.rest.send<{ events: { kind: string; text: string }[] }>(
      'GET',
      '/api/v1/traffic?kind=dropped',
    );
    expect(body.events).toEqual([expect.objectContaining({ text: expect.stringContaining('not executed') })]);
  });
});

describe('the keys', () => {
  it('are set over REST while the line is open, and written with the configuration', async () => {
    const running = await start({});
    const change = { tcp: { maxClients: 1, whenFull: 'refuse', pipelining: 'drop' } };
    const { status, body } = await running.rest.send<{ settings: object }>(
      'PUT',
      '/api/v1/lines/lan',
      change,
    );
    expect(status).toBe(200);
    expect(body.settings).toMatchObject(change);
    const { payload } = await running.rest.app.inject('/api/v1/configuration');
    expect(payload).toContain('whenFull');
    expect(payload).toContain('pipelining');
    const held = await connect(running);
    expect(await first(held)).toBe(10);
    const refused = running.client();
    await until(() => refused.closed, 'the newcomer is closed');
  });
});
