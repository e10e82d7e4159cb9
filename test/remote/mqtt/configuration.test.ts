import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newClient } from '../../../src/modbus/client/client.js';
import { deskOf } from './desk-of.js';

/* A configuration that is sent to a running bench: `configuration.check` and `configuration.apply` of the door. */

const holding = (value: number) => ({ registers: { holding: [{ address: 0, name: 'power', value }] } });
const FILE = {
  devices: { meter: holding(7), pump: holding(1) },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'pump' } } },
  faults: [{ name: 'slow', do: [{ delay: 1 }] }],
};

async function bench() {
  const { rpc, simulator } = await deskOf(FILE);
  const value = async (device: string) => {
    const came = await rpc.call('value.get', { device, value: 'power' });
    return came.ok ? came.value.value : came.code;
  };
  const apply = (configuration: Record<string, unknown>) =>
    rpc.call('configuration.apply', { configuration });
  const check = (configuration: Record<string, unknown>) =>
    rpc.call('configuration.check', { configuration });
  return { rpc, simulator, value, apply, check };
}

/** A port that another program has. */
async function busyPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a configuration that is sent', () => {
  it('changes nothing when it is what runs: values and counts stay', async () => {
    const { rpc, simulator, apply, value } = await bench();
    await rpc.call('value.set', { device: 'meter', name: 'power', value: 9, raw: false });
    const line = simulator.lines.get('lan');
    expect(await apply(FILE)).toEqual({ ok: true, value: { steps: [] } });
    expect(await value('meter')).toBe(9);
    expect(simulator.lines.get('lan')).toBe(line);
  });

  it('replaces devices, lines and rules, and leaves the others as they are', async () => {
    const { rpc, simulator, apply, check, value } = await bench();
    await rpc.call('value.set', { device: 'pump', name: 'power', value: 5, raw: false });
    await rpc.call('rule.add', { rule: { name: 'own', do: [{ delay: 2 }] } });
    const wanted = {
      devices: { meter: holding(70), pump: FILE.devices.pump, valve: holding(3) },
      lines: {
        second: { tcp: { port: 0 }, units: { 3: 'valve', 4: { copyOf: 'pump' } } },
        lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'pump' } },
      },
      faults: [{ name: 'busy', do: [{ exception: 6 }] }],
    };
    const change = {
      steps: [
        { change: 'changed', of: 'device', name: 'meter' },
        { change: 'added', of: 'device', name: 'valve' },
        { change: 'added', of: 'device', name: 'pump-4' },
        { change: 'added', of: 'line', name: 'second' },
        { change: 'removed', of: 'rule', name: 'slow' },
        { change: 'removed', of: 'rule', name: 'own' },
        { change: 'added', of: 'rule', name: 'busy' },
      ],
    };
    expect(await check(wanted)).toEqual({ ok: true, value: change });
    expect([await value('meter'), simulator.lines.size]).toEqual([7, 1]);
    expect(await apply(wanted)).toEqual({ ok: true, value: change });
    expect([await value('meter'), await value('pump'), await value('valve')]).toEqual([70, 5, 3]);
    expect([...simulator.lines.keys()]).toEqual(['second', 'lan']);
    expect(
      simulator.lines.get('lan')?.bus.stations.devices.has(simulator.devices.get('meter') as never),
    ).toBe(true);
    expect(simulator.lines.get('second')?.state.kind).toBe('open');
    expect(simulator.faults.rules.list().map(({ rule }) => rule.name)).toEqual(['busy']);
  });

  it('leaves a port to a line that comes from one that goes', async () => {
    const { simulator, apply } = await bench();
    const state = simulator.lines.get('lan')?.state;
    const port = state?.kind === 'open' ? state.port : undefined;
    const came = await apply({
      devices: { meter: FILE.devices.meter },
      lines: { other: { tcp: { port }, units: { 1: 'meter' } } },
    });
    expect(came).toMatchObject({
      value: {
        steps: [
          { change: 'removed', of: 'line', name: 'lan' },
          { change: 'added', of: 'line', name: 'other' },
          { change: 'removed', of: 'device', name: 'pump' },
          { change: 'removed', of: 'rule', name: 'slow' },
        ],
      },
    });
    expect([...simulator.lines.keys(), ...simulator.devices.keys()]).toEqual(['other', 'meter']);
    expect(simulator.lines.get('other')?.state).toMatchObject({ kind: 'open', port });
  });

  it('swaps the ports of two lines, or leaves both where they were', async () => {
    const { simulator, apply } = await bench();
    const lines = (lan: number, second: number) => ({
      ...FILE,
      lines: {
        lan: { tcp: { port: lan }, units: { 1: 'meter' } },
        second: { tcp: { port: second }, units: { 1: 'pump' } },
      },
    });
    expect(await apply(lines(0, 0))).toMatchObject({ ok: true });
    const portOf = (name: string) => {
      const state = simulator.lines.get(name)?.state;
      return state?.kind === 'open' ? (state.port ?? 0) : 0;
    };
    const [a, b] = [portOf('lan'), portOf('second')];
    const read = async (port: number) => {
      const client = newClient({ kind: 'tcp', host: '127.0.0.1', port, framing: 'socket' });
      const came = await client.ask({ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 1), timeout: 30_000 });
      await client.close();
      return came.kind === 'answered' ? came.pdu.at(-1) : came.kind;
    };
    expect([await read(a), await read(b)]).toEqual([7, 1]);
    expect(await apply(lines(b, a))).toMatchObject({ ok: true });
    expect([await read(a), await read(b)]).toEqual([1, 7]);
    const third = await busyPort();
    // The first line could have the port of the second, which is to have one that is taken.
    expect(await apply(lines(a, third))).toMatchObject({ ok: false, code: 'line.port_busy' });
    expect([await read(a), await read(b)]).toEqual([1, 7]);
    expect([...simulator.lines.values()].map(({ state }) => state.kind)).toEqual(['open', 'open']);
  });

  it('leaves all as it was when a port can not be opened', async () => {
    const { rpc, simulator, apply, value } = await bench();
    await rpc.call('value.set', { device: 'meter', name: 'power', value: 9, raw: false });
    await rpc.call('value.set', { device: 'pump', name: 'power', value: 8, raw: false });
    const line = simulator.lines.get('lan');
    const before = line?.state;
    const came = await apply({
      devices: { meter: holding(70), valve: holding(3) },
      lines: {
        first: { tcp: { port: 0 }, units: { 1: 'valve' } },
        second: { tcp: { port: await busyPort() }, units: { 1: 'meter' } },
      },
    });
    expect(came).toMatchObject({ ok: false, code: 'line.port_busy' });
    expect([await value('meter'), await value('pump'), await value('valve')]).toEqual([
      9,
      8,
      'device.unknown',
    ]);
    expect([...simulator.lines.values()]).toEqual([line]);
    expect(line?.state.kind).toBe(before?.kind);
    expect(line?.bus.stations.devices.has(simulator.devices.get('meter') as never)).toBe(true);
    expect(simulator.faults.rules.list().map(({ rule }) => rule.name)).toEqual(['slow']);
    expect(await apply(FILE)).toEqual({ ok: true, value: { steps: [] } });
  });

  it.each(['api', 'mqtt', 'traffic', 'state', 'sections'])('has no section %s', async (section) => {
    const { apply, check } = await bench();
    const refused = { ok: false, code: 'configuration.invalid', problems: [{ path: section }] };
    expect(await check({ ...FILE, [section]: {} })).toMatchObject(refused);
    expect(await apply({ ...FILE, [section]: {} })).toMatchObject(refused);
  });

  it('obeys the limits of REST on ports, paths and hosts', async () => {
    const { check } = await bench();
    const line = (settings: object) =>
      check({ ...FILE, lines: { lan: { units: { 1: 'meter' }, ...settings } } });
    expect(await line({ serial: { path: '/etc/passwd' } })).toMatchObject({
      code: 'line.not_serial',
      problems: [{ path: 'lines.lan.serial.path' }],
    });
    expect(await line({ serial: { path: 'virtual', link: '/etc/link' } })).toMatchObject({
      code: 'file.outside',
      problems: [{ path: 'lines.lan.serial.link' }],
    });
    expect(await line({ tcp: { port: 0 }, tls: { cert: '/etc/shadow', key: 'k.pem' } })).toMatchObject({
      problems: [{ path: 'lines.lan.tls.cert' }],
    });
    const real = { real: { tcp: { host: '10.0.0.1' } } };
    expect(await check({ ...FILE, devices: { ...FILE.devices, meter: real } })).toMatchObject({
      code: 'device.host',
      problems: [{ path: 'devices.meter.real.tcp.host' }],
    });
    const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'outside.csv');
    writeFileSync(file, 't,v\n0,1\n');
    const signal = { playback: { file, column: 'v' } };
    const played = { registers: { holding: [{ address: 0, signal }] } };
    expect(await check({ ...FILE, devices: { ...FILE.devices, meter: played } })).toMatchObject({
      problems: [{ message: expect.stringContaining('where REST may read recordings') }],
    });
    const old = { pymodbus: 'setup.json' };
    expect(await check({ ...FILE, devices: { ...FILE.devices, meter: old } })).toMatchObject({
      problems: [{ path: 'devices.meter.pymodbus' }],
    });
  });

  it('is applied alone: other changes of lines and devices are refused meanwhile', async () => {
    const { rpc, simulator, apply } = await bench();
    const line = simulator.lines.get('lan');
    if (!line) throw new Error('no line');
    const stop = line.stop.bind(line);
    const meanwhile: unknown[] = [];
    line.stop = async () => {
      meanwhile.push(await rpc.call('device.remove', { device: 'meter', force: true }));
      meanwhile.push(await rpc.call('line.add', { name: 'new', ...FILE.lines.lan }));
      return stop();
    };
    const other = { tcp: { port: 0 }, units: { 1: 'valve' } };
    const wanted = { devices: { ...FILE.devices, valve: holding(3) }, lines: { other } };
    expect(await apply(wanted)).toMatchObject({ ok: true });
    expect(meanwhile).toMatchObject([{ code: 'configuration.busy' }, { code: 'configuration.busy' }]);
  });

  it('is refused with the place of what is wrong', async () => {
    const { check } = await bench();
    expect(await check({ ...FILE, faults: [{ name: 'x', do: [{ dely: 1 }] }] })).toMatchObject({
      code: 'configuration.invalid',
      problems: [{ path: 'faults[0].do[0].dely' }],
    });
    expect(await check({ devices: {}, lines: {} })).toMatchObject({ ok: false });
    const many = Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [`d${i}`, holding(1)]));
    expect(await check({ ...FILE, devices: { ...many, ...FILE.devices } })).toMatchObject({
      code: 'device.too_many',
    });
    const at = (hosts: string) => ({ tcp: { hosts, port: 1502 }, units: { 1: 'meter' } });
    const wide = { a: at('127.1.0.0-127.1.15.255'), b: at('127.2.0.1') };
    expect(await check({ ...FILE, lines: { ...FILE.lines, ...wide } })).toMatchObject({
      code: 'configuration.invalid',
      problems: [{ path: 'lines', message: 'expected at most 4096 addresses on all lines' }],
    });
  });

  it('is one at a time', async () => {
    const { apply } = await bench();
    const both = await Promise.all([apply(FILE), apply(FILE)]);
    expect(both).toMatchObject([{ ok: true }, { ok: false, code: 'configuration.busy' }]);
  });
});
