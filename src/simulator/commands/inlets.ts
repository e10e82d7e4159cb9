import type { InletSource } from '../../device/signals/signal.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { valueAtAddress } from './device-value.js';
import { done, type Outcome } from './refusal.js';
import type { INLET_COMMANDS, Taken } from './schemas/device.js';

/** A value that comes from outside: its place and its source. */
export type InletView = Pick<Taken, 'device' | 'table' | 'address'> & InletSource;

/** The values whose signals take them from outside, with their sources. */
function* listInlets({ simulator }: CommandContext): Generator<InletView | undefined> {
  for (const { name: device, points } of simulator.devices.values()) {
    for (const { definition, signal } of points.all) {
      const { table, address } = definition;
      // Also yields when there is nothing to list, so that the lines can be served.
      yield signal?.inlet && { device, table, address, ...signal.inlet.source };
    }
  }
}

/**
 * Passes numbers on to the signals. Values that were removed, or whose signal has been replaced, are left
 * out.
 */
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
