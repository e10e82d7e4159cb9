import { compact } from '../config/compact.js';
import type { DeviceDefinition } from '../config/configuration.js';
import { type DependentPoint, networkOf, reportDependencies } from '../config/native/dependencies.js';
import { NativeDeviceReader } from '../config/native/device.js';
import { checkName } from '../config/native/names.js';
import { reportReactionUses } from '../config/native/reaction-uses.js';
import { MOST_ENTRIES_OVER_REST, withSunspec } from '../config/native/sunspec.js';
import type { OpenRecording } from '../config/recording-file.js';
import type { Device } from '../device/device.js';
import type { PlacedSignal, Point } from '../device/point.js';
import type { At } from '../schema/at.js';

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
  {
    network,
    recordings,
  }: { readonly network: readonly DependentPoint[]; readonly recordings: OpenRecording },
): DeviceDefinition | undefined {
  const pymodbusDevices = () => ({ ok: false, messages: [NOT_WHILE_SERVING], warnings: [] }) as const;
  return written.unlessWrong(() => {
    const at = withSunspec(written);
    const holding = at.key('registers').key('holding').value;
    if (at !== written && Array.isArray(holding) && holding.length > MOST_ENTRIES_OVER_REST) {
      const expected = `expected models of at most ${MOST_ENTRIES_OVER_REST} points, got ${holding.length}`;
      return written.key('sunspec').wrong(`${expected}: put the device into the file`);
    }
    checkName('device', name, at.key('name'));
    const definition = new NativeDeviceReader(pymodbusDevices, recordings).read(name, at);
    if (!definition) return undefined;
    const all = [...network, ...networkOf([definition])];
    reportDependencies(all, () => at);
    reportReactionUses([definition], all, () => at);
    return definition;
  });
}

/** All values of running devices, with the signals that they have or, by `signalOf`, would have. */
export function networkNow(
  devices: Iterable<Device>,
  signalOf: (point: Point) => PlacedSignal | undefined = (point) => point.placedSignal,
): DependentPoint[] {
  return Array.from(devices).flatMap(({ name: device, points }) => [
    ...points.all.map((point) => {
      const { table, address, type, name } = point.definition;
      return { device, point: { table, address, type, ...compact({ name, signal: signalOf(point) }) } };
    }),
    ...points.feeds.map(({ address, signal }) => {
      return { device, point: { table: 'queues', address, type: 'uint16', signal } as const };
    }),
  ]);
}
