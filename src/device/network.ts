import type { DeviceClock } from '../signals/clock.js';
import type { Point } from './point.js';

/** The values of one device, for signals of other devices. */
export interface NetworkDevice {
  readonly device: string;
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  /** The value at the moment when `clock` shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number;
  /** Settles those of the accumulators that belong to this device: they keep what they have added up. */
  settle(accumulators: Iterable<Point>): void;
}

/** A value and the device that it belongs to. */
interface Found {
  readonly points: NetworkDevice;
  readonly point: Point;
}

/** The named values of all devices of a simulator. Signals may depend on them. */
export class Network {
  readonly #devices = new Map<string, NetworkDevice>();
  /** Changes whenever something that a computed value may depend on changes, other than the time. */
  revision = 0;

  add(points: NetworkDevice): void {
    this.#devices.set(points.device, points);
  }

  remove(device: string): void {
    this.#devices.delete(device);
  }

  /** Finds `voltage` of the same device, or `other.voltage`. Value names have no dot; device names may have dots. */
  find(device: string, name: string): Found | undefined {
    const dot = name.lastIndexOf('.');
    const points = this.#devices.get(dot < 0 ? device : name.slice(0, dot));
    const point = points?.named.get(name.slice(dot + 1));
    return points && point && { points, point };
  }

  /** Updates which accumulators depend on which values. Call after values, names or signals have changed. */
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

  /** Call before a clock or a signal changes: every accumulator keeps what it has added up. */
  settleAll(): void {
    for (const points of this.#devices.values()) points.settle(points.all);
    this.revision++;
  }

  /** Call before the value changes: the accumulators that depend on the value keep what they have added up. */
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
