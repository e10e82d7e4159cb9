import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SparkplugNode, type WrittenMetric } from '../../../src/extensions/sparkplug/node.js';
import type { BrokerEvents } from '../../../src/remote/mqtt/broker.js';
import type { Publication } from '../../../src/remote/mqtt/outbox.js';
import { done, type Refusal } from '../../../src/simulator/commands/refusal.js';
import type { Summary } from '../../../src/simulator/commands/schemas/program.js';
import { command, type Decoded, decoded } from './sparkplug-decoder.js';

/*
 * Held to the Sparkplug specification 3.0 with the decoder of Eclipse Tahu: chapters 4 (topics), 5 (order of messages)
 * and 6.4 (payloads).
 */

const NODE = 'spBv1.0/modbus-sim/NCMD/bench-7';
const DCMD = 'spBv1.0/modbus-sim/DCMD/bench-7';

interface Value {
  readonly name: string | null;
  readonly value: number | string | null;
  readonly type: string;
}

/** A node on a connection that does what it is told. */
function nodeOn({ every = 0, mayWrite = true } = {}) {
  const values = new Map<string, Value[]>([
    [
      'me/ter',
      [
        { name: 'voltage', value: 230.5, type: 'float32' },
        { name: 'relay', value: 1, type: 'bit' },
        { name: 'serial', value: 'A7', type: 'string' },
        { name: 'power', value: null, type: 'uint16' },
        { name: null, value: 9, type: 'uint16' },
      ],
    ],
    ['pump', [{ name: 'speed', value: 12, type: 'int16' }]],
  ]);
  const published: Publication[] = [];
  const subscribed: string[] = [];
  const written: WrittenMetric[] = [];
  const refused: { readonly topic: string; readonly why: Refusal }[] = [];
  const status = {
    connected: false,
    reason: null as string | null,
    since: '',
    ...{ sent: 0, received: 0, waiting: 0, lost: 0 },
  };
  let events: Omit<BrokerEvents, 'log'> | undefined;
  const lines = [{ name: 'lan', state: 'open' }];
  const node = new SparkplugNode({
    group: 'modbus-sim',
    node: 'bench-7',
    mayWrite,
    every,
    connect: (given) => {
      events = given;
      return {
        status,
        isBusy: false,
        publish: (message: Publication) => void published.push(message),
        subscribe: (topics: readonly string[]) => void subscribed.push(...topics),
        end: async (last?: Publication) => void (last && published.push(last)),
      };
    },
    valuesOf: async (device) => values.get(device),
    write: async (each) => {
      written.push(each);
      return done(undefined);
    },
    attempt: (work) => work(),
    refused: (topic, why) => refused.push({ topic, why }),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const look = async () => {
    node.look({ program: { version: '1.0.0' }, lines: lines.map((line) => ({ ...line })) } as Summary, [
      ...values.keys(),
    ]);
    await settle();
  };
  /** An attempt to connect that comes to something. @returns the last will that it has */
  const connect = async () => {
    const will = events?.will?.() as Publication;
    status.connected = true;
    events?.connected();
    await settle();
    return will;
  };
  const send = async (topic: string, payload: Uint8Array, isRetained = false) => {
    const message = { topic, payload: Buffer.from(payload), isRetained };
    events?.arrived({ ...message, responseTopic: undefined, correlation: undefined });
    await settle();
  };
  /** What was published since the last look, as `NBIRTH/bench-7`, and what it says. */
  const heard = () =>
    published.splice(0).map(({ topic, payload, qos, retain = false }) => ({
      at: topic.replace('spBv1.0/modbus-sim/', ''),
      ...{ qos, retain },
      ...decoded(payload),
    }));
  return { node, values, lines, status, subscribed, written, refused, look, connect, send, heard };
}

const brief = ({ at, seq }: Decoded & { readonly at: string }) => `${at} ${seq}`;

/** A node that has told its births, and nothing else. */
async function born(options: Parameters<typeof nodeOn>[0] = {}) {
  const bench = nodeOn(options);
  await bench.look();
  await bench.connect();
  bench.heard();
  return bench;
}

/** Time passes only here, however slow the machine is. */
const aSecond = () => vi.advanceTimersByTime(1000);
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('an edge node of Sparkplug B', () => {
  it('listens to commands, then tells its birth, then that of each device, in the order of the sequence', async () => {
    const { connect, look, heard, subscribed } = nodeOn();
    await connect();
    expect([subscribed, heard()]).toEqual([[NODE, `${DCMD}/+`], []]);
    await look();
    const all = heard();
    expect(all.map(brief)).toEqual([
      'NBIRTH/bench-7 0',
      'DBIRTH/bench-7/me%2Fter 1',
      'DBIRTH/bench-7/pump 2',
    ]);
    for (const { qos, retain, timestamp, metrics } of all) {
      expect([qos, retain]).toEqual([0, false]);
      expect(Math.abs(timestamp - Date.now())).toBeLessThan(10_000);
      for (const metric of metrics) expect(metric.timestamp).toBe(timestamp);
    }
    const [node, meter] = all;
    expect(node?.metrics.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['bdSeq', 'Int64', 0],
      ['Node Control/Rebirth', 'Boolean', false],
      ['Properties/Version', 'String', '1.0.0'],
      ['Lines/lan/State', 'String', 'open'],
    ]);
    expect(meter?.metrics.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['voltage', 'Double', 230.5],
      ['relay', 'Boolean', true],
      ['serial', 'String', 'A7'],
      ['power', 'Double', null],
    ]);
  });

  it('does not listen to commands for values without the right to set them', async () => {
    const { connect, subscribed } = nodeOn({ mayWrite: false });
    await connect();
    expect(subscribed).toEqual([NODE]);
  });

  it('has a last will with the number of its birth, another one at each connection', async () => {
    const { connect, look, heard, status } = nodeOn();
    await look();
    const numbers = [];
    for (let i = 0; i < 258; i++) {
      status.connected = false;
      const will = await connect();
      expect(will).toMatchObject({ topic: 'spBv1.0/modbus-sim/NDEATH/bench-7', qos: 1 });
      expect(will.retain ?? false).toBe(false);
      const { seq, values, metrics } = decoded(will.payload);
      expect([seq, metrics.length]).toEqual([Number.NaN, 1]);
      const [birth] = heard();
      expect(birth?.values.bdSeq).toBe(values.bdSeq);
      numbers.push(values.bdSeq);
    }
    expect([numbers[0], numbers[1], ...numbers.slice(-3)]).toEqual([0, 1, 255, 0, 1]);
  });

  it('tells what has changed, each value not more often than it may', async () => {
    const { node, heard } = await born({ every: 60_000 });
    node.report('me/ter', [{ name: 'voltage', value: 231, type: 'float32' }]);
    expect(heard()).toEqual([]);
    const quick = await born();
    const meter = [
      { name: 'voltage', value: 231, type: 'float32' },
      { name: 'relay', value: null, type: 'bit' },
      { name: 'serial', value: 'A7', type: 'string' },
      { name: 'power', value: 'NaN', type: 'float32' },
    ];
    quick.node.report('me/ter', meter);
    quick.node.report('me/ter', meter);
    const [data, ...more] = quick.heard();
    expect(data).toMatchObject({ at: 'DDATA/bench-7/me%2Fter', seq: 3, qos: 0 });
    expect(data?.values).toEqual({ voltage: 231, relay: null, power: Number.NaN });
    expect(more).toEqual([]);
  });

  it('counts its messages from 0 to 255, and begins again', async () => {
    const { node, heard } = await born();
    for (let i = 0; i < 300; i++) node.report('pump', [{ name: 'speed', value: 100 + i, type: 'int16' }]);
    expect(heard().map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, i) => (i + 3) % 256));
  });

  it('tells of devices that go and come, and of those that have other metrics', async () => {
    const { node, values, look, heard } = await born();
    values.delete('pump');
    values.set('valve', [{ name: 'open', value: 0, type: 'bit' }]);
    await look();
    expect(heard().map(brief)).toEqual(['DDEATH/bench-7/pump 3', 'DBIRTH/bench-7/valve 4']);
    node.report('pump', [{ name: 'speed', value: 1, type: 'int16' }]);
    const more = { name: 'flow', value: 7, type: 'uint16' };
    values.get('valve')?.push(more);
    node.report('valve', [more]);
    await look();
    const [birth, ...rest] = heard();
    expect(rest).toEqual([]);
    expect(birth).toMatchObject({ at: 'DBIRTH/bench-7/valve', seq: 5, values: { open: false, flow: 7 } });
  });

  it('tells the states of lines, and is born again with a line that it did not have', async () => {
    const { lines, look, heard } = await born();
    (lines[0] as { state: string }).state = 'stopped';
    await look();
    await look();
    const data = heard();
    expect(data.map(brief)).toEqual(['NDATA/bench-7 3']);
    expect(data[0]?.values).toEqual({ 'Lines/lan/State': 'stopped' });
    lines.push({ name: 'bus', state: 'open' });
    await look();
    const births = heard();
    expect(births.map(brief)).toEqual([
      'NBIRTH/bench-7 0',
      'DBIRTH/bench-7/me%2Fter 1',
      'DBIRTH/bench-7/pump 2',
    ]);
    expect(births[0]?.values).toMatchObject({ 'Lines/lan/State': 'stopped', 'Lines/bus/State': 'open' });
  });

  it('is born again when a host asks for it, once a second however often it asks', async () => {
    const { send, heard, look } = await born();
    aSecond();
    const rebirth = command('Node Control/Rebirth', 'Boolean', true);
    await send(NODE, rebirth);
    const births = heard();
    expect(births.map(brief)[0]).toBe('NBIRTH/bench-7 0');
    // The connection is the same, and so is its last will.
    expect(births[0]?.values.bdSeq).toBe(0);
    expect(births).toHaveLength(3);
    for (let i = 0; i < 100; i++) await send(NODE, rebirth);
    await look();
    expect(heard()).toEqual([]);
    aSecond();
    await look();
    expect(heard()).toHaveLength(3);
    await send(NODE, command('Node Control/Rebirth', 'Boolean', false));
    aSecond();
    await look();
    expect(heard()).toEqual([]);
  });

  it('is born again after messages were given up, which left a gap', async () => {
    const { status, look, heard } = await born();
    aSecond();
    Object.assign(status, { lost: 5, waiting: 3 });
    await look();
    expect(heard()).toEqual([]);
    status.waiting = 0;
    await look();
    expect(heard()).toHaveLength(3);
    aSecond();
    await look();
    expect(heard()).toEqual([]);
  });

  it('is not born again by a look that was under way when it died for good', async () => {
    const { node, look, heard } = await born();
    await node.stop();
    await look();
    expect(heard().map(({ at }) => at)).toEqual(['NDEATH/bench-7']);
  });

  it('says nothing while there is no broker, and is dead before it goes', async () => {
    const { node, status, heard, look } = await born();
    status.connected = false;
    node.report('pump', [{ name: 'speed', value: 1, type: 'int16' }]);
    await look();
    expect([node.isReady, heard()]).toEqual([false, []]);
    status.connected = true;
    await node.stop();
    node.report('pump', [{ name: 'speed', value: 2, type: 'int16' }]);
    const [death, ...more] = heard();
    expect(death).toMatchObject({ at: 'NDEATH/bench-7', qos: 1, values: { bdSeq: 0 } });
    expect(more).toEqual([]);
  });

  it('leaves the births of a connection that is gone to the next one', async () => {
    const { look, connect, heard, status } = nodeOn();
    await look();
    const first = connect();
    status.connected = false;
    const second = connect();
    await Promise.all([first, second]);
    const all = heard();
    expect(all.map(({ at }) => at.split('/')[0])).toEqual(['NBIRTH', 'NBIRTH', 'DBIRTH', 'DBIRTH']);
    expect(all.slice(1).map(({ seq }) => seq)).toEqual([0, 1, 2]);
  });
});

describe('commands of Sparkplug B', () => {
  it.each([
    ['voltage', 'Double', 231.5, 231.5],
    ['voltage', 'Float', 0.5, 0.5],
    ['voltage', 'Int32', -5, -5],
    ['voltage', 'UInt32', 4_000_000_000, 4_000_000_000],
    ['voltage', 'Int64', -7, -7],
    ['relay', 'Boolean', true, 1],
    ['serial', 'String', 'ä7 with more than twelve bytes', 'ä7 with more than twelve bytes'],
  ])('set %s by %s', async (name, type, value, expected) => {
    const { send, written, refused } = await born();
    await send(`${DCMD}/me%2Fter`, command(name, type, value));
    expect(refused).toEqual([]);
    expect(written).toEqual([{ device: 'me/ter', name, value: expected }]);
  });

  const garbage = Buffer.from('ffffffffffffffffffffffffffffffffff', 'hex');
  const good = command('voltage', 'Double', 1);
  it.each([
    ['bytes that are none', `${DCMD}/me%2Fter`, garbage],
    ['bytes that are none', NODE, garbage],
    ['nothing', NODE, Buffer.alloc(0)],
    ['half a payload', `${DCMD}/me%2Fter`, good.subarray(0, good.length - 3)],
    ['a megabyte', `${DCMD}/me%2Fter`, Buffer.alloc(2 ** 20, good)],
    ['a length beyond the end', NODE, Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1])],
    ['too many metrics', NODE, Buffer.concat(Array(1001).fill(Buffer.from([0x12, 0])))],
    ['a metric that it has not', `${DCMD}/me%2Fter`, command('volt', 'Double', 1)],
    ['a metric without a name', `${DCMD}/me%2Fter`, Buffer.from([0x12, 2, 0x70, 1])],
    ['a value of another type', `${DCMD}/me%2Fter`, command('voltage', 'String', 'x')],
    ['a value of another type', `${DCMD}/me%2Fter`, command('relay', 'Double', 1)],
    ['no value', `${DCMD}/me%2Fter`, command('voltage', 'Double', null)],
    ['another device', `${DCMD}/nobody`, good],
    ['a device whose name is none', `${DCMD}/%ff`, good],
    ['another command', NODE, command('Node Control/Reboot', 'Boolean', true)],
    ['a rebirth by a number', NODE, command('Node Control/Rebirth', 'Double', 1)],
  ])('with %s are refused and counted (%s)', async (_, topic, payload) => {
    const { send, written, refused, node, heard } = await born();
    await send(topic, payload);
    expect([written, heard()]).toEqual([[], []]);
    expect(refused).toMatchObject([{ topic, why: { ok: false } }]);
    expect(node.status.refused).toBeGreaterThan(0);
  });

  it('are ignored when the broker has kept them', async () => {
    const { send, written, refused } = await born();
    await send(`${DCMD}/me%2Fter`, good, true);
    expect([written, refused]).toEqual([[], []]);
  });

  it('of random bytes never do any harm', async () => {
    const { send, written, node } = await born();
    let state = 1;
    const next = () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state >> 8;
    };
    for (let i = 0; i < 2000; i++) {
      const bytes = Buffer.from(good);
      for (let flips = 0; flips < 1 + (i % 4); flips++) bytes[next() % bytes.length] = next() % 256;
      await send(`${DCMD}/me%2Fter`, bytes.subarray(0, 1 + (next() % bytes.length)));
    }
    expect(node.status.refused).toBeGreaterThan(1000);
    for (const { device, name, value } of written)
      expect([device, name, typeof value]).toEqual(['me/ter', 'voltage', 'number']);
  });
});
