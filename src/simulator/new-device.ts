import { compact } from '../config/compact.js';
import type { DeviceDefinition } from '../config/configuration.js';
import {
  type DependentPoint,
  feedOf,
  type Network,
  networkOf,
  pointsOf,
  reportDependencies,
} from '../config/native/dependencies.js';
import { NativeDeviceReader } from '../config/native/device.js';
import { checkName } from '../config/native/names.js';
import { reportReactionUses } from '../config/native/reaction-uses.js';
import { MOST_ENTRIES_OVER_REST, withSunspec } from '../config/native/sunspec.js';
import type { OpenRecording } from '../config/recording-file.js';
import type { Device } from '../device/device.js';
import type { PlacedSignal, Point } from '../device/point.js';
import { At } from '../schema/at.js';
import { Findings } from '../schema/findings.js';
import { isMapping } from '../schema/parts.js';

/** A pymodbus file may have 8 MiB, and while it is read no line is served. */
const NOT_WHILE_SERVING = 'a pymodbus file is read at the start only; expected registers';

/**
 * Reads a device that is to be added to those that are there; undefined after reporting its mistakes.
 * @param written the entry of the device, as it would stand in a native file
 * @param network the values of the devices that are there
 */
export function readNewDevice(
  name: string,
  written: At,
  { network, recordings }: { readonly network: Network; readonly recordings: OpenRecording },
): DeviceDefinition | undefined {
  return written.unlessWrong(() => {
    const at = withSunspec(written);
    const points = at === written ? 0 : pointsIn(at);
    if (points > MOST_ENTRIES_OVER_REST) {
      const expected = `expected models of at most ${MOST_ENTRIES_OVER_REST} points, got ${points}`;
      return written.key('sunspec').wrong(`${expected}: put the device into the file`);
    }
    checkName('device', name, at.key('name'));
    const definition = deviceReader(recordings).read(name, at);
    if (!definition) return undefined;
    const all = networkOf([definition], network);
    reportDependencies(pointsOf(definition), all, () => at);
    reportReactionUses([definition], all, () => at);
    return definition;
  });
}

/** Reads devices while lines are served. */
export function deviceReader(recordings: OpenRecording): NativeDeviceReader {
  return new NativeDeviceReader(
    () => ({ ok: false, messages: [NOT_WHILE_SERVING], warnings: [] }),
    recordings,
  );
}

/**
 * Reads the devices of a file one by one, so that lines are served in between. What they have in common is in `reader`
 * afterwards, and reading them once more takes little time.
 */
export function* readInSlices(
  devices: unknown,
  reader: NativeDeviceReader,
): Generator<void, string | undefined> {
  let points = 0;
  for (const [name, entry] of Object.entries(isMapping(devices) ? devices : {})) {
    const written = new At(entry, new Findings());
    const at = withSunspec(written);
    points += at === written ? 0 : pointsIn(at);
    if (points > MOST_ENTRIES_OVER_REST)
      return `expected SunSpec models of at most ${MOST_ENTRIES_OVER_REST} points: put them into the file`;
    reader.read(name, at);
    yield;
  }
  return undefined;
}

/** How many entries the table of a device with SunSpec models has. */
function pointsIn(at: At): number {
  const holding = at.key('registers').key('holding').value;
  return Array.isArray(holding) ? holding.length : 0;
}

/** A value of a device, with another signal than it has. */
interface Changed {
  readonly point: Point;
  readonly signal: PlacedSignal;
}

/** The values of running devices. A bench may have hundreds of thousands, so each is looked up when it is asked for. */
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

/** The values of running devices that need others. */
export function dependentNow(devices: Iterable<Device>, changed?: Changed): DependentPoint[] {
  return Array.from(devices).flatMap(({ name: device, points }) => [
    ...points.needing.map((point) => dependentPoint(device, point, changed)),
    ...points.feeds.map(({ address, signal }) => feedOf(device, address, signal)),
  ]);
}

/** A value of a running device with what it needs. */
export function dependentPoint(device: string, point: Point, changed?: Changed): DependentPoint {
  const { table, address, type, name } = point.definition;
  const signal = changed?.point === point ? changed.signal : point.placedSignal;
  return { device, point: { table, address, type, ...compact({ name, signal }) } };
}
