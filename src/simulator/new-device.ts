import { compact } from '../common/compact.js';
import type { At } from '../common/schema/at.js';
import { atOnce, type Work } from '../common/work.js';
import type { Device } from '../device/device.js';
import type { PlacedSignal, Point } from '../device/point.js';
import type { DeviceDefinition } from '../document/configuration.js';
import {
  type DependentPoint,
  feedOf,
  type Network,
  networkOf,
  pointsOf,
  reportingDependencies,
} from '../document/native/dependencies.js';
import { NativeDeviceReader } from '../document/native/device.js';
import { reportingReactionUses } from '../document/native/reaction-uses.js';
import { MOST_ENTRIES_OVER_REST, withSunspec } from '../document/native/sunspec.js';
import { checkName } from '../document/native/units.js';
import type { OpenRecording } from '../document/recording-file.js';

/** A pymodbus file may have 8 MiB, and no line is served while it is read. */
const NOT_WHILE_SERVING = 'a pymodbus file is read only at the start; expected registers';

/**
 * Reads a device that is to be added to the running ones, as work that can yield; undefined after reporting
 * mistakes.
 * @param written the entry of the device in the form of a native file
 * @param network the values of the running devices
 */
export function readingNewDevice(
  name: string,
  written: At,
  surroundings: { readonly network: Network; readonly recordings: OpenRecording },
): Work<DeviceDefinition | undefined> {
  return written.unlessWrongIn(reading(name, written, surroundings));
}

function* reading(
  name: string,
  written: At,
  { network, recordings }: { readonly network: Network; readonly recordings: OpenRecording },
): Work<DeviceDefinition | undefined> {
  const { count } = written.findings;
  const at = yield* withSunspec(written, MOST_ENTRIES_OVER_REST);
  if (at.findings.count > count) return undefined;
  checkName('device', name, at.key('name'));
  const definition = yield* deviceReader(recordings).reading(name, at);
  if (!definition) return undefined;
  const all = networkOf([definition], network);
  yield* reportingDependencies(pointsOf(definition), all, () => at);
  yield* reportingReactionUses([definition], all, () => at);
  return definition;
}

/**
 * Reads several devices that may need values of each other. Devices with mistakes are left out; the mistakes
 * are in the findings of their places.
 * @param written the entry of each device, by name
 */
export function readNewDevices(
  written: ReadonlyMap<string, At>,
  { network, recordings }: { readonly network: Network; readonly recordings: OpenRecording },
): DeviceDefinition[] {
  const reader = deviceReader(recordings);
  const definitions = Array.from(written).flatMap(
    ([name, at]) => reader.read(name, atOnce(withSunspec(at))) ?? [],
  );
  const all = networkOf(definitions, network);
  return definitions.filter((definition) => {
    const at = written.get(definition.name) as At;
    atOnce(reportingDependencies(pointsOf(definition), all, () => at));
    atOnce(reportingReactionUses([definition], all, () => at));
    return at.findings.count === 0;
  });
}

/** Makes a reader of devices for use while lines are running. */
export function deviceReader(recordings: OpenRecording): NativeDeviceReader {
  return new NativeDeviceReader(() => ({ ok: false, error: [NOT_WHILE_SERVING], warnings: [] }), recordings);
}

/** A value of a device, and its future signal. */
interface Changed {
  readonly point: Point;
  readonly signal: PlacedSignal;
}

/** The values of running devices. A bench may have hundreds of thousands, so each is looked up when needed. */
export function networkNow(devices: ReadonlyMap<string, Device>, changed?: Changed): Network {
  return {
    find(device, name) {
      const point = devices.get(device)?.points.named.get(name);
      return point && dependentPoint(device, point, changed);
    },
    devices: devices.keys(),
    namesOf: (device) => devices.get(device)?.points.named.keys() ?? [],
  };
}

/** The values of running devices that depend on others. */
export function* dependentNow(devices: Iterable<Device>, changed?: Changed): Generator<DependentPoint> {
  for (const { name: device, points } of devices) {
    for (const point of points.needing) yield dependentPoint(device, point, changed);
    for (const { address, signal } of points.feeds) yield feedOf(device, address, signal);
  }
}

/** A value of a running device, with the names that it depends on. */
export function dependentPoint(device: string, point: Point, changed?: Changed): DependentPoint {
  const { table, address, type, name } = point.definition;
  const signal = changed?.point === point ? changed.signal : point.placedSignal;
  return { device, point: { table, address, type, ...compact({ name, signal }) } };
}
