import type { InletSource } from '../../device/signals/signal.js';
import type { TableName } from '../../device/tables.js';
import type { CommandContext } from './context.js';
import { valueAtAddress } from './device-value.js';
import { done, type Outcome } from './refusal.js';

/** A value by its place. */
interface InletPlace {
  readonly device: string;
  readonly table: TableName;
  readonly address: number;
}

/** A value that comes from outside. */
export interface InletView extends InletPlace, InletSource {}

/** A number that has come for a value, before the scale of its signal. */
export interface Taken extends InletPlace {
  readonly value: number;
  /** How long ago it came, in ms. */
  readonly age: number;
}

/** The most numbers that may come at once: more would take longer than a turn of the lines' event loop may. */
export const MOST_TAKEN = 64;

/** The values whose signals take them from outside, and where from. */
export function* listInlets({ simulator }: CommandContext): Generator<InletView | undefined> {
  for (const { name: device, points } of simulator.devices.values()) {
    for (const { definition, signal } of points.all) {
      const { table, address } = definition;
      // Where nothing is yielded, the lines may have their turn all the same.
      yield signal?.inlet && { device, table, address, ...signal.inlet.source };
    }
  }
}

/** Passes on what has come. Values that are gone, or whose signal is another one by now, are left out. */
export function takeValues(
  { simulator }: CommandContext,
  { values }: { readonly values: readonly Taken[] },
): Outcome<null> {
  const now = performance.now();
  for (const { device: name, table, address, value, age } of values) {
    const device = simulator.devices.get(name);
    const found = device && valueAtAddress(device, table, address);
    if (found?.point?.signal?.inlet) device?.points.take(found.point, value, now - age);
  }
  return done(null);
}
