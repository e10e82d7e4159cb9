import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/modbus/transport/clock.js';
import type { LineState, Transport, TransportStart } from '../../src/modbus/transport/transport.js';
import { configurationText } from '../../src/simulator/as-file/written-configuration.js';
import type { Policy } from '../../src/simulator/plan.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { nativeSetup } from '../support/configuration.js';
import { tries } from '../support/tries.js';

/** Ports that can be open once each; one opening is refused. */
class Ports {
  readonly open = new Set<string>();
  /** How many openings go well before the one that is refused. */
  left = Number.POSITIVE_INFINITY;

  transport(key: string): Transport {
    const ports = this;
    let state: LineState = { kind: 'stopped' };
    return {
      clients: 0,
      get state() {
        return state;
      },
      async start(): Promise<TransportStart> {
        if (ports.open.has(key)) return { ok: false, error: `${key} is in use`, inUse: true };
        if (ports.left-- === 0) return { ok: false, error: `${key} refuses` };
        ports.open.add(key);
        state = { kind: 'open', endpoint: key, port: Number(key) };
        return { ok: true, endpoint: key, port: Number(key) };
      },
      async stop() {
        if (state.kind === 'open') ports.open.delete(key);
        state = { kind: 'stopped' };
      },
      reframe() {},
    };
  }
}

async function running(content: object, ports = new Ports()) {
  const simulator = new Simulator(nativeSetup(content), pino({ level: 'silent' }), {
    clock: systemClock,
    newTransport: (definition) =>
      ports.transport(definition.kind === 'serial' ? definition.path : String(definition.port)),
  });
  expect(await simulator.start()).toMatchObject({ ok: true });
  return { simulator, ports };
}

const written = ({ running }: Simulator) => [...configurationText(running)].join('');
const statesOf = ({ lines }: Simulator) => Array.from(lines.values(), ({ state }) => state.kind);

async function become({ changes, faults, findValue }: Simulator, content: object, policy: Policy = 'all') {
  const wanted = nativeSetup(content);
  const became = await changes.become(wanted, { policy, counts: false });
  if (became.ok) faults.become(wanted.faults, findValue, wanted.faults);
  return became;
}

const DEVICES = ['meter', 'pump', 'valve'];
const LINES = ['bench', 'lan', 'plant'];

/** Devices with a few registers, lines on a few ports, units that share devices or have copies. */
const setup = fc
  .record({
    devices: fc.array(
      fc.record({ value: fc.integer({ min: 0, max: 2 }), size: fc.integer({ min: 1, max: 3 }) }),
      {
        minLength: 1,
        maxLength: DEVICES.length,
      },
    ),
    ports: fc.uniqueArray(fc.integer({ min: 5020, max: 5023 }), { minLength: 1, maxLength: LINES.length }),
    order: fc.shuffledSubarray(LINES, { minLength: LINES.length }),
    unit: fc.array(fc.record({ device: fc.nat(2), isCopy: fc.boolean() }), { minLength: 6, maxLength: 6 }),
    rules: fc.uniqueArray(fc.constantFrom('slow', 'cut', 'mute'), { maxLength: 3 }),
    delay: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ devices, ports, order, unit, rules, delay }) => {
    const names = DEVICES.slice(0, devices.length);
    const unitsOf = (line: number) =>
      Object.fromEntries(
        unit.slice(2 * line, 2 * line + 2).map(({ device, isCopy }, i) => {
          const name = names[device % names.length] as string;
          return [i + 1, isCopy ? { copyOf: name } : name];
        }),
      );
    return {
      devices: Object.fromEntries(
        devices.map(({ value, size }, i) => [
          names[i],
          { registers: { holding: [{ address: 0, quantity: size, value, write: true }] } },
        ]),
      ),
      lines: Object.fromEntries(ports.map((port, i) => [order[i], { tcp: { port }, units: unitsOf(i) }])),
      faults: rules.map((name) => ({ name, seed: 1, do: [{ delay }] })),
    };
  });

describe('a plan', () => {
  it('makes what runs what is wanted, whatever both are', async () => {
    await fc.assert(
      fc.asyncProperty(setup, setup, async (before, after) => {
        const { simulator, ports } = await running(before);
        expect(await become(simulator, after)).toMatchObject({ ok: true });
        const fresh = await running(after);
        expect(written(simulator)).toBe(written(fresh.simulator));
        expect(ports.open).toEqual(fresh.ports.open);
        await simulator.stop();
        await fresh.simulator.stop();
      }),
      { numRuns: tries(150) },
    );
  });

  it('that fails at any place leaves everything as it was', async () => {
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(setup, setup, fc.nat(3), async (before, after, left) => {
        const { simulator, ports } = await running(before);
        const was = [written(simulator), statesOf(simulator), [...ports.open].sort()];
        ports.left = left;
        const became = await become(simulator, after);
        if (became.ok) return simulator.stop();
        failed++;
        expect([written(simulator), statesOf(simulator), [...ports.open].sort()]).toEqual(was);
        await simulator.stop();
      }),
      { numRuns: tries(300) },
    );
    expect(failed).toBeGreaterThan(tries(300) / 15);
  });

  it('that leaves out what fails keeps the line whose port refuses, and makes all other changes', async () => {
    const meter = (value: number) => ({ registers: { holding: [{ address: 0, value }] } });
    const content = (port: number, value: number, more: object) => ({
      devices: { meter: meter(value) },
      lines: { lan: { tcp: { port }, units: { 1: 'meter' } }, ...more },
    });
    const { simulator, ports } = await running(content(5020, 1, {}));
    ports.open.add('5021');
    const more = { plant: { tcp: { port: 5022 }, units: { 1: 'meter' } } };
    const became = await become(simulator, content(5021, 2, more), 'each');
    expect(became).toMatchObject({ ok: true });
    expect(became.ok && [...became.failed.keys()]).toEqual(['line lan']);
    expect(statesOf(simulator)).toEqual(['open', 'open']);
    expect(simulator.lines.get('lan')?.definition).toMatchObject({ port: 5020 });
    const [device] = simulator.lines.get('lan')?.bus.stations.devices ?? [];
    expect(device?.tables.holding.readWords(0, 1)).toEqual([2]);
  });
});
