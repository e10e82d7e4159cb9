import type { DeviceClock } from '../signals/clock.js';
import type { Point } from './point.js';

/** The values of one device, as the others need them. */
export interface NetworkDevice {
  readonly device: string;
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  /** The value at the moment at which a clock shows a time. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number;
  /** Those of the accumulators that belong to this device keep what they have added up. */
  settle(accumulators: Iterable<Point>): void;
}

/** A value that another one needs, and the device that it belongs to. */
interface Found {
  readonly points: NetworkDevice;
  readonly point: Point;
}

/** All values with names, of all devices of a simulator: what signals may depend on. */
export class Network {
  readonly #devices = new Map<string, NetworkDevice>();
  /** Changes with everything that a computed value may depend on besides the time. */
  revision = 0;

  add(points: NetworkDevice): void {
    this.#devices.set(points.device, points);
  }

  remove(device: string): void {
    this.#devices.delete(device);
  }

  /** `voltage` of the same device, or `other.voltage`. A name of a value has no dot; that of a device may have. */
  find(device: string, name: string): Found | undefined {
    const dot = name.lastIndexOf('.');
    const points = this.#devices.get(dot < 0 ? device : name.slice(0, dot));
    const point = points?.named.get(name.slice(dot + 1));
    return points && point && { points, point };
  }

  /** Call when values, names or signals have come or gone: finds anew which accumulators depend on which values. */
  link(): void {
    this.revision++;
    const all = Array.from(this.#devices.values());
    for (const points of all) for (const point of points.all) point.dependents.clear();
    for (const points of all) {
      for (const point of points.all) {
        if (point.signal?.accumulator) this.#depend(point, points.device, point, new Set());
      }
    }
  }

  /** Every accumulator keeps what it has added up: the clocks, or a signal, are about to change. */
  settleAll(): void {
    for (const points of this.#devices.values()) points.settle(points.all);
    this.revision++;
  }

  /** The accumulators that depend on a value keep what they have added up: the value is about to change. */
  settleDependents({ dependents }: Point): void {
    for (const points of dependents.size > 0 ? this.#devices.values() : []) points.settle(dependents);
    this.revision++;
  }

  #depend(accumulator: Point, device: string, point: Point, seen: Set<Point>): void {
    for (const name of point.placedSignal?.definition.needs ?? []) {
      const found = this.find(device, name);
      if (!found || seen.has(found.point)) continue;
      seen.add(found.point);
      found.point.dependents.add(accumulator);
      this.#depend(accumulator, found.points.device, found.point, seen);
    }
  }
}
