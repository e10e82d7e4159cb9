import { pino } from 'pino';
import { expect } from 'vitest';
import { isMapping } from '../../../src/common/schema/parts.js';
import type { Device } from '../../../src/device/device.js';
import { lineSettings } from '../../../src/document/native/line-source.js';
import { COMMANDS } from '../../../src/remote/rpc/declared.js';
import { carryOut } from '../../../src/remote/rpc/line-end.js';
import type { CallName } from '../../../src/remote/rpc/rpc.js';
import { ruleSource, whyUnusable } from '../../../src/simulator/as-file/written-configuration.js';
import { inputSchema, meantBy } from '../../../src/simulator/commands/declared.js';
import { configuration } from '../../../src/simulator/commands/program.js';
import type { Outcome } from '../../../src/simulator/commands/refusal.js';
import type { RegisterView } from '../../../src/simulator/commands/schemas/value.js';
import { listValues } from '../../../src/simulator/commands/values.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { hasSignals } from '../../../src/simulator/state/device-state.js';
import { newTestContext } from '../../../src/testing/commands.js';

/* A plant, the commands that change it, and all that is seen of it: for the tests of what a restart brings back. */

export const METER = {
  clock: { speed: 1 },
  seed: 7,
  registers: {
    coils: [
      { address: 0, name: 'relay', labels: { 0: 'off', 1: 'on' }, write: true },
      { address: 4, quantity: 3, write: true },
    ],
    holding: [
      { address: 0, name: 'voltage', unit: 'V', scale: 0.1, value: 2301, write: true },
      { address: 1, name: 'limit', type: 'float32', value: 5, write: true },
      { address: 3, value: [1, 2, 3], write: true },
      { address: 6, type: 'string', name: 'text', value: 'ab', length: 2, write: true },
      { address: 8, name: 'setpoint', value: 4, write: true, limits: { min: 0, max: 99 } },
      { address: 10, name: 'waits', value: 4, write: true, available: 'whenWritten' },
      { address: 9, type: 'uint16', name: 'away', value: 5, unavailable: [{ from: '1h', for: '1m' }] },
    ],
    input: [
      { address: 0, name: 'level', type: 'int16', signal: { ramp: { from: 0, to: 100, over: '10s' } } },
      { address: 1, name: 'total', type: 'uint32', signal: { counter: { perSecond: 10 } }, retain: true },
      {
        address: 3,
        name: 'energy',
        type: 'float32',
        signal: { counter: { integral: 'voltage', per: '1h' } },
      },
      { address: 5, quantity: 2, signal: { expression: 'level * 2' } },
      { address: 7, name: 'noise', signal: { noise: { around: 50, amplitude: 3 } } },
    ],
  },
};
export const PLAIN = { registers: { holding: [{ address: 0, value: [7, 8], write: true }] } };
export const START = {
  devices: {
    meter: METER,
    other: { ...PLAIN, manners: { holes: 'shift' } },
    spare: PLAIN,
  },
  lines: {
    lan: { tcp: { port: 15020 }, units: { 1: 'meter', 2: 'other', 9: { copyOf: 'other' } } },
    many: {
      tcp: { port: 15021, hosts: '127.1.0.1-127.1.0.2' },
      units: { 1: 'meter' },
      each: { copyOf: 'meter' },
    },
  },
  faults: [
    { name: 'slow', seed: 1, when: { line: 'lan', from: '1m' }, do: [{ delay: { ms: 5, jitter: 1 } }] },
    { name: 'named', seed: 2, when: { name: 'meter.voltage' }, do: [{ exception: 4 }] },
  ],
  state: 'keep',
} as const;

export interface Command {
  readonly name: CallName;
  readonly input: object;
}

/** Where there are registers, whatever was defined: to look at all the others takes most of the time. */
const USED = [
  { from: 0, to: 400 },
  { from: 40_000, to: 40_100 },
  { from: 65_500, to: 65_535 },
];
export const log = pino({ level: 'silent' });

function room(simulator: Simulator) {
  return newTestContext(simulator, log);
}

/** Does what REST does with a request. @returns the outcome; undefined when the input does not fit the schema */
export async function request(
  simulator: Simulator,
  { name, input }: Command,
): Promise<Outcome<unknown> | undefined> {
  const declared = COMMANDS[name];
  const read = inputSchema(declared).safeParse(structuredClone(input));
  if (!read.success) return undefined;
  const meant = await meantBy(declared, read.data as object);
  if (!meant.ok) return meant;
  const came = await carryOut(room(simulator), name, meant.value);
  // JSON has no other numbers.
  JSON.stringify(came, (_, each) => {
    if (typeof each === 'number') expect(each).toSatisfy(Number.isFinite);
    return each;
  });
  return came;
}

/** What a simulator serves, without what a file does not say, or what begins anew with it. */
export function asWritten(simulator: Simulator) {
  return serves(simulator, ({ device, view, signal: placed, isMoving }) => {
    // A counter goes on from what it has.
    const { written } = placed;
    const signal = { ...placed, written: isMapping(written) ? { ...written, from: undefined } : written };
    const { name, raw, unit, type, table, address, registers, writable, description, action } = view;
    const point = device.points.at(
      device.tables[table].window.image,
      device.tables[table].window.base + address,
    );
    return {
      ...{ name, unit, type, table, address, registers, writable, description, action, signal },
      isSwitchedOn: point?.isSwitchedOn,
      // Bytes that are no text have a question mark in the file, and a comment that says so.
      ...(!isMoving && { raw: typeof raw === 'string' ? raw.replaceAll('\uFFFD', '?') : raw }),
    };
  });
}

/** All that there is. */
export function asIs(simulator: Simulator) {
  return {
    ...serves(simulator, ({ view, signal }) => {
      const { reads, writes, lastWriter, saturated, ...rest } = view;
      return { ...rest, signal };
    }),
    // Where nobody has changed anything and nothing moves, nobody sees that the clock begins anew.
    clocks: byName(simulator.devices.values(), (device) =>
      device.changes > 0 || hasSignals(device) ? device.clock.time : 0,
    ),
    defined: byName(simulator.devices.values(), ({ defined }) => defined),
  };
}

interface Seen {
  readonly device: Device;
  readonly view: RegisterView;
  readonly signal: {
    readonly kind: string | undefined;
    readonly written: unknown;
    readonly seed: number | undefined;
  };
  readonly isMoving: boolean;
}

function serves(simulator: Simulator, see: (seen: Seen) => object) {
  const { devices, lines, faults } = simulator;
  return {
    devices: byName(devices.values(), (device) => {
      const registers = USED.flatMap((range) => {
        const listed = listValues(room(simulator), { device: device.name, ...range });
        if (listed instanceof Promise || !listed.ok)
          throw new Error(`device ${device.name} has too many values`);
        return [...listed.value];
      }).flatMap((view) => {
        if (!view) return [];
        const { image, base } = device.tables[view.table].window;
        const point = device.points.at(image, base + view.address);
        const { placedSignal, signal: running } = point ?? {};
        const isMoving = running !== undefined && running.accumulator === undefined;
        const { kind, written } = placedSignal?.definition ?? {};
        const signal = { kind, written, seed: placedSignal?.seed };
        return [see({ device, view, signal, isMoving })];
      });
      return { registers, manners: device.manners, clock: device.clock.settings };
    }),
    lines: byName(lines.values(), ({ definition }) => lineSettings(definition)),
    // Those for lines and values that are gone come back with nobody.
    rules: faults.rules
      .list()
      .filter((rule) => whyUnusable(rule, simulator.faultLines, simulator.findValue) === undefined)
      .map(ruleSource),
  };
}

function byName<Each extends { readonly name: string }>(all: Iterable<Each>, see: (each: Each) => unknown) {
  return Object.fromEntries(Array.from(all, (each): [string, unknown] => [each.name, see(each)]).sort());
}

/** The text of `GET /api/v1/configuration`. */
export const written = (simulator: Simulator) => [...configuration(room(simulator))].join('');
