import type { Device } from '../../device/device.js';
import type { InletSource } from '../../device/signals/signal.js';
import { findMisbehaviour, rulesOf } from '../../document/catalogue.js';
import { mannersProblems } from '../../document/native/manners-schema.js';
import type { Simulator } from '../simulator.js';
import { thousandths } from '../traffic/words.js';
import { undoable } from '../undo.js';
import { armMisbehaviour } from './catalogue.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { unknownDevice, valueAtAddress } from './device-value.js';
import { openRecordings } from './recordings.js';
import { done, notDone, type Outcome, refusalOfIssues } from './refusal.js';
import { wrongReal } from './remote-files.js';
import type {
  ClockChange,
  DEVICE_COMMANDS,
  DeviceView,
  INLET_COMMANDS,
  PowerChange,
  Taken,
} from './schemas/device.js';

export type OfDevice = DeclaredInput<(typeof DEVICE_COMMANDS)['device.get']>;

/** How long a power cycle switches the power off by default, in ms. */
const USUAL_CYCLE_MS = 1000;

function* listDevices({ simulator }: CommandContext): Generator<DeviceView> {
  for (const device of simulator.devices.values()) yield deviceView(simulator, device);
}

/** Adds a device from its entry in the form of a native file. The device answers once it is a unit of a line. */
export async function addDevice(
  context: CommandContext,
  { name, ...source }: DeclaredInput<(typeof DEVICE_COMMANDS)['device.add']>,
): Promise<Outcome<DeviceView>> {
  const { simulator } = context;
  const refused = await wrongReal(context, source);
  if (refused) return refused;
  const recordings = await openRecordings(context, source);
  const added = await simulator.changes.createDevice(name, source, recordings);
  if (added.ok) {
    const armed = await armLike(context, name, source.like);
    if (!armed.ok) await simulator.changes.removeDevice(name);
    return armed.ok ? done(deviceView(simulator, added.added)) : armed;
  }
  return notDone(added, 'device.invalid');
}

/**
 * Puts in force the fault rules of the catalogue entry that `like` of a new device names. The device already
 * has the entry's manners.
 */
async function armLike(context: CommandContext, device: string, like: unknown): Promise<Outcome<unknown>> {
  const entry = typeof like === 'string' ? findMisbehaviour(like) : undefined;
  if (!entry?.ok) return done(null);
  const target = { device };
  const rules = rulesOf(entry.value, target);
  return armMisbehaviour(context, { manners: undefined, line: undefined, rules, target });
}

/** Removes a device and its copies. @param how `force` also removes the device from the units of lines */
async function removeDevice(
  { simulator }: CommandContext,
  { device: name, force }: DeclaredInput<(typeof DEVICE_COMMANDS)['device.remove']>,
): Promise<Outcome<null>> {
  if (!simulator.devices.has(name)) return unknownDevice(simulator, name);
  const removed = await simulator.changes.removeDevice(name, { force });
  return removed.ok ? done(null) : notDone(removed);
}

function getDevice({ simulator }: CommandContext, { device: name }: OfDevice): Outcome<DeviceView> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  return done({ ...deviceView(simulator, device), defined: definedIn(device) });
}

const MOST_RANGES_SHOWN = 256;

/** The defined addresses of each table. This takes up to 1 ms, so each turn handles only one device. */
function definedIn({ tables }: Device): DeviceView['defined'] {
  return Object.fromEntries(
    Object.entries(tables).map(([table, { window }]) => {
      const { image, base, size } = window;
      const ranges: [number, number][] = [];
      let registers = 0;
      for (let address = 0; address < size; address++) {
        if (image.typeAt(base + address) === 'invalid') continue;
        registers++;
        const last = ranges.at(-1);
        if (last && (last[1] === address - 1 || ranges.length === MOST_RANGES_SHOWN)) last[1] = address;
        else ranges.push([address, address]);
      }
      return [table, { registers, ranges }];
    }),
  );
}

/** Switches a device's power. Times are in ms. */
const switchDevice = command((device, { state, forMs, bootMs }: PowerChange) => {
  if (state === 'on') device.restore(bootMs);
  else device.interrupt({ forMs: forMs ?? (state === 'cycle' ? USUAL_CYCLE_MS : undefined), bootMs });
});

/** Changes the speed of a device's clock, pauses it, or advances it by a step in ms. */
const setDeviceClock = command((device, { speed, pause, step }: ClockChange) => {
  device.setClock(
    { ...(speed !== undefined && { speed }), ...(pause !== undefined && { paused: pause }) },
    step,
  );
});

/** Restarts a device: registers and signals return to their configured values, except retained values. */
const restartDevice = command((device) => device.restart());

/**
 * Replaces all manners of a device. The device then behaves as if it had just started, but registers keep
 * their values.
 */
function setManners(
  { simulator }: CommandContext,
  { device: name, manners }: DeclaredInput<(typeof DEVICE_COMMANDS)['device.manners']>,
): Outcome<DeviceView> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const lines = Array.from(simulator.lines.values(), ({ definition }) => definition);
  const issues = mannersProblems(manners, { name, isReal: device.real !== undefined }, lines);
  if (issues.length > 0) return refusalOfIssues(issues, 'manners.no_connection');
  device.manners = Object.keys(manners).length > 0 ? manners : undefined;
  // Register names in the traffic may have changed.
  simulator.changes.lineRevision++;
  return done(deviceView(simulator, device));
}

function command<Input>(carryOut: (device: Device, input: Input) => void) {
  return (
    { simulator }: CommandContext,
    { device: name, ...input }: OfDevice & Input,
  ): Outcome<DeviceView> => {
    const device = simulator.devices.get(name);
    if (!device) return unknownDevice(simulator, name);
    carryOut(device, input as Input);
    return done(deviceView(simulator, device));
  };
}

function deviceView(simulator: Simulator, device: Device): DeviceView {
  const { name, power, clock, tables, points } = device;
  const lines = Array.from(simulator.lines, ([line, { bus }]) => {
    return [line, bus.stations.unitsOf(device).map(String)] as const;
  });
  return {
    name,
    power: power.state,
    clock: { time: thousandths(clock.time / 1000), ...clock.settings },
    lines: Object.fromEntries(lines.filter(([, units]) => units.length > 0)),
    tables: Object.fromEntries(Object.entries(tables).map(([table, { window }]) => [table, window.size])),
    names: [...points.named.keys()],
    manners: { ...device.manners },
    ...(device.real && { real: device.real.status }),
  };
}

export const DEVICE_FUNCTIONS = {
  'device.list': listDevices,
  'device.get': getDevice,
  'device.add': undoable(addDevice),
  'device.remove': undoable(removeDevice),
  'device.power': switchDevice,
  'device.clock': setDeviceClock,
  'device.manners': setManners,
  'device.reset': restartDevice,
} satisfies FunctionsOf<typeof DEVICE_COMMANDS>;

/** A value that comes from outside, with its place and its source. */
export type InletView = Pick<Taken, 'device' | 'table' | 'address'> & InletSource;

/** Lists the values whose signals come from outside, with their sources. */
function* listInlets({ simulator }: CommandContext): Generator<InletView | undefined> {
  for (const { name: device, points } of simulator.devices.values()) {
    for (const { definition, signal } of points.all) {
      const { table, address } = definition;
      // Yields even without a match, so that the lines are served.
      yield signal?.inlet && { device, table, address, ...signal.inlet.source };
    }
  }
}

/** Passes numbers on to the signals. Skips values that were removed or whose signal was replaced. */
function takeValues(
  { simulator }: CommandContext,
  { values }: DeclaredInput<(typeof INLET_COMMANDS)['inlet.take']>,
): Outcome<null> {
  const now = performance.now();
  for (const { device: name, table, address, value, age } of values) {
    const device = simulator.devices.get(name);
    const found = device && valueAtAddress(device, table, address);
    if (found?.point?.signal?.inlet) device?.points.take(found.point, value, now - age);
  }
  return done(null);
}

export const INLET_FUNCTIONS = {
  'inlet.list': listInlets,
  'inlet.take': takeValues,
} satisfies FunctionsOf<typeof INLET_COMMANDS>;
