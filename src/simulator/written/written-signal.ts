import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import { isMapping } from '../../schema/parts.js';

/**
 * The keys `signal` and `seed` of an entry whose value goes on as it does now; undefined for a value without a signal.
 * A counter goes on from what it has added up. Other signals are functions of the clock, which begins anew.
 */
export function writtenSignal(
  device: Device,
  point: Point,
): { readonly signal: Readonly<Record<string, unknown>>; readonly seed?: number } | undefined {
  const { placedSignal } = point;
  if (!placedSignal) return undefined;
  const { definition, seed } = placedSignal;
  const { kind, written } = definition;
  const isCounter = point.signal?.accumulator !== undefined && isMapping(written);
  const parameters = isCounter ? goingOn(device, point, written) : written;
  return { signal: { [kind]: parameters }, ...(seed !== undefined && { seed }) };
}

function goingOn(device: Device, point: Point, written: Readonly<Record<string, unknown>>) {
  const from = device.points.valueAtMoment(point, device.clock.time, device.clock);
  return from === (written.from ?? 0) ? written : { ...written, from };
}
