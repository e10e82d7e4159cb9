import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import type { EventView, SimulatorClient } from '../../../src/library.js';
import { serialMaster, tcpMaster } from '../../remote/api/masters.js';
import { dist, type RunningProgram, startProgram } from '../../support/program.mjs';
import { scratchSpace } from '../verbs/run.js';

/** What is built: users have no other. */
const { connect, startSimulator }: typeof import('../../../src/library.js') = await import(
  join(dist, 'library.js')
);

const { newFile } = scratchSpace();

const TOKEN = '2f1c6d0b9a8e47c3b5d1e0f4a6978c12';

const BENCH = {
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, name: 'relay', write: true }],
        holding: [
          { address: 0, value: 2301, name: 'voltage', unit: 'V', scale: 0.1, write: true },
          { address: 1, value: 7 },
        ],
      },
    },
  },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    bus: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
  },
  faults: [{ name: 'configured', when: { unit: 9 }, do: { delay: 1 } }],
};

async function here(): Promise<{ simulator: SimulatorClient; stop: () => Promise<unknown> }> {
  const simulator = await startSimulator(BENCH);
  return { simulator, stop: simulator.stop };
}

async function elsewhere(): Promise<{ simulator: SimulatorClient; stop: () => Promise<unknown> }> {
  const program: RunningProgram = await startProgram({
    config: { ...BENCH, api: { port: 0, token: TOKEN } },
  });
  return { simulator: await connect(program.restUrl(), { token: TOKEN }), stop: program.stop };
}

describe.each([
  ['in this process', here],
  ['elsewhere', elsewhere],
])('a simulator %s', (_, start) => {
  let simulator: SimulatorClient;
  let stop: () => Promise<unknown>;
  beforeAll(async () => {
    ({ simulator, stop } = await start());
  });
  afterAll(() => stop());

  it('has lines that clients find', async () => {
    expect(simulator.lines.map(({ name }) => name)).toEqual(['lan', 'bus']);
    const master = await tcpMaster(simulator.line('lan').port);
    expect((await master.readHoldingRegisters(1, 1)).data).toEqual([7]);
    const serial = await serialMaster(simulator.line('bus').path);
    expect((await serial.readHoldingRegisters(1, 1)).data).toEqual([7]);
  });

  it('tells at once what is no line, no port and no path', () => {
    expect(() => simulator.line('lam')).toThrow('lan');
    expect(() => simulator.line('bus').port).toThrow('line bus is serial: it has a path but no port');
    expect(() => simulator.line('lan').path).toThrow('line lan is a socket: it has a port but no path');
  });

  it('has values by name, and registers', async () => {
    const meter = simulator.device('meter');
    expect(await meter.write('voltage', 231.5)).toMatchObject({ value: 231.5, raw: 2315 });
    expect(await meter.read('voltage')).toBe(231.5);
    await meter.change({ name: 'relay', value: 1 }, { table: 'holding', address: 1, value: 8 });
    expect(await meter.registers({ table: 'holding', from: 1 })).toMatchObject([{ address: 1, value: 8 }]);
    expect(await meter.registers({ names: 'relay' })).toMatchObject([{ table: 'coils', value: 1 }]);
    expect(await meter.setAvailable('voltage', false)).toMatchObject({ value: null, raw: 2315 });
    expect(await meter.read('voltage')).toBeNull();
    await meter.reset();
    expect(await meter.read('voltage')).toBe(230.1);
  });

  it('has signals, clocks and supplies', async () => {
    const meter = simulator.device('meter');
    expect(await meter.clock({ pause: true })).toMatchObject({ clock: { paused: true } });
    const signal = { sine: { period: '60s', amplitude: 5, offset: 230 } };
    expect(await meter.setSignal('voltage', signal)).toMatchObject({ signal });
    expect(await meter.removeSignal('voltage')).toMatchObject({ signal: null });
    expect(await meter.power({ state: 'off' })).toMatchObject({ power: 'off' });
    expect(await meter.power({ state: 'on' })).toMatchObject({ power: 'on' });
    expect(await meter.get()).toMatchObject({ name: 'meter', lines: { lan: ['1'], bus: ['1'] } });
  });

  it('has fault rules that act, and traffic to wait for', async () => {
    const rule = await simulator.faults.set({
      name: 'busy',
      when: { line: 'lan', count: 1 },
      do: { exception: 6 },
    });
    expect(rule).toMatchObject({ do: [{ exception: 6 }], remaining: 1 });
    const master = await tcpMaster(simulator.line('lan').port);
    const newest = (await simulator.traffic.exchanges()).at(-1);
    await expect(master.readHoldingRegisters(1, 1)).rejects.toThrow();
    const after = newest?.id ?? 0;
    const spoilt = await simulator.traffic.waitFor(({ line }) => line === 'lan', { after });
    expect(spoilt.faults).toMatchObject([{ rule: 'busy', kind: 'exception', outcome: 'applied' }]);
    expect(await simulator.faults.get('busy')).toMatchObject({ hits: 1 });
    expect((await simulator.faults.list()).map(({ name }) => name)).toEqual(['configured', 'busy']);
    await simulator.faults.remove('busy');
    expect((await simulator.faults.reset()).map(({ name }) => name)).toEqual(['configured']);
  });

  it('has exchanges and events in pages, the oldest first', async () => {
    const { traffic } = simulator;
    const master = await tcpMaster(simulator.line('lan').port);
    const before = (await traffic.events()).at(-1)?.seq ?? 0;
    for (const address of [0, 1, 1]) await master.readHoldingRegisters(address, 1);
    const isReply = ({ kind }: EventView) => kind === 'reply';
    const first = await traffic.waitForEvent(isReply, { after: before });
    expect(first).toMatchObject({ line: 'lan', unit: 1, function: 3, names: ['meter.voltage'] });
    const second = await traffic.waitForEvent(isReply, { after: first.seq });
    const third = await traffic.waitForEvent(isReply, { after: second.seq });
    const ids = [first, second, third].map(({ seq }) => seq);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect((await traffic.exchanges({ after: before })).map(({ id }) => id)).toEqual(ids);
    expect((await traffic.exchanges()).slice(-3).map(({ id }) => id)).toEqual(ids);
    const events = await traffic.events({ after: first.seq });
    expect(events.filter(isReply).map(({ seq }) => seq)).toEqual(ids.slice(1));
    expect(await traffic.waitFor(undefined, { after: before })).toMatchObject({ id: first.seq });
  });

  it('tells when the awaited does not come', async () => {
    const { traffic } = simulator;
    await expect(traffic.waitFor(() => false, { timeoutMs: 30 })).rejects.toThrow(
      'no matching exchange within 30 ms',
    );
    await expect(traffic.waitForEvent(() => false, { timeoutMs: 30 })).rejects.toThrow(
      'no matching event within 30 ms',
    );
  });

  it('changes, stops and starts its lines', async () => {
    const line = simulator.line('bus');
    expect(await line.change({ serial: { baudRate: 9600 } })).toMatchObject({
      settings: { serial: { baudRate: 9600 } },
    });
    expect(await line.stop()).toMatchObject({ state: 'stopped' });
    expect(await line.start()).toMatchObject({ state: 'open' });
    expect(await line.restart()).toMatchObject({ state: 'open' });
    expect(existsSync(line.path)).toBe(true);
    expect(await line.get()).toMatchObject({ name: 'bus', place: line.path });
  });

  it('says what is wrong with a request, and where', async () => {
    const refused = simulator.faults.set({ name: 'x', do: { delai: 1 } });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('delay'),
      problems: [{ path: expect.stringContaining('delai'), message: expect.any(String) }],
    });
    await expect(simulator.device('metre').get()).rejects.toMatchObject({ status: 404 });
  });
});

const YAML = `
devices: {meter: {registers: {holding: [{address: 0, value: 5, name: v}]}}}
lines: {lan: {tcp: {host: 0.0.0.0, port: 502}, units: {1: meter}}, bus: {serial: {path: /dev/ttyUSB0, rs485: {mode: rts}}, units: {1: meter}}}
`;

describe('startSimulator', () => {
  it.each([
    ['text', () => YAML],
    ['the path of a file', () => newFile(YAML)],
  ])('takes %s, and its lines are on free places', async (_, configuration) => {
    const simulators = await Promise.all([startSimulator(configuration()), startSimulator(configuration())]);
    onTestFinished(async () => {
      for (const each of simulators) await each.stop();
    });
    const [first, second] = simulators.map(({ line }) => [line('lan').port, line('bus').path] as const);
    expect(first?.[0]).not.toBe(502);
    expect(first?.[0]).not.toBe(second?.[0]);
    expect(first?.[1]).toMatch(/^\/dev\/pts\//);
    expect(first?.[1]).not.toBe(second?.[1]);
    expect(await simulators[0]?.device('meter').read('v')).toBe(5);
  });

  it('rejects a configuration with all its mistakes', async () => {
    const file = newFile('devices: {}\nlines: {}\n');
    await expect(startSimulator(file)).rejects.toThrow(/devices: expected.*\n.*lines: expected/);
    await expect(startSimulator({ devices: 1 })).rejects.toThrow('devices: expected devices by name, got 1');
    await expect(startSimulator('nope.yaml')).rejects.toThrow(/^nope\.yaml: no such file$/);
    await expect(startSimulator(file)).rejects.toThrow(`${file}:1:`);
  });

  it('frees its ports', async () => {
    const simulator = await startSimulator(YAML);
    const { port } = simulator.line('lan');
    await simulator.stop();
    await expect(tcpMaster(port)).rejects.toThrow('ECONNREFUSED');
  });
});

test('connect tells what it can not reach, and that a token is wrong', async () => {
  await expect(connect('http://127.0.0.1:9')).rejects.toThrow("can't reach http://127.0.0.1:9/api/v1/lines");
  const program = await startProgram({ config: { ...BENCH, api: { port: 0, token: TOKEN } } });
  onTestFinished(async () => void (await program.stop()));
  await expect(connect(program.restUrl(), { token: 'wrong' })).rejects.toMatchObject({ status: 401 });
});
