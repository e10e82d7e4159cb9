import { compact } from '../config/compact.js';
import type { DependentPoint } from '../config/native/dependencies.js';
import type { Device } from '../device/device.js';
import type { PlacedSignal, Point } from '../device/point.js';

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
