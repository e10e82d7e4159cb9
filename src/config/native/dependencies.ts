import type { PointDefinition } from '../../device/point.js';
import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import { orderOf } from '../../signals/dependencies.js';
import type { DeviceDefinition } from '../configuration.js';
import { entryOf } from './life.js';

/**
 * Reports names that no value has, and values that depend on themselves.
 * @param registersOf the registers of a device as they were written
 */
export function tellDependencies(
  network: readonly DependentPoint[],
  registersOf: (device: string) => At,
): void {
  for (const { message, device, point } of dependencyProblems(network)) {
    const entry = entryOf(point, registersOf(device));
    const signal = entry?.key('signal');
    signal?.key(point.signal?.definition.kind ?? '').wrong(message);
  }
}

/** A value of a device with the names of the values that it needs. */
export interface DependentPoint {
  readonly device: string;
  readonly point: Pick<PointDefinition, 'table' | 'address' | 'name' | 'type' | 'signal'>;
}

export function networkOf(definitions: readonly DeviceDefinition[]): DependentPoint[] {
  return definitions.flatMap(({ name: device, life }) =>
    (life?.points ?? []).map((point) => ({ device, point })),
  );
}

/** The mistakes in the names that values need, each with the value concerned. */
export function dependencyProblems(
  network: readonly DependentPoint[],
): (DependentPoint & { message: string })[] {
  const named = new Map(
    network.flatMap((each) =>
      each.point.name === undefined ? [] : [[qualified(each.device, each.point.name), each]],
    ),
  );
  const dependent = network.filter(({ point }) => needsOf(point).length > 0);
  const problems = dependent.flatMap((each) =>
    needsOf(each.point).flatMap((name) => {
      const found = named.get(qualified(each.device, name));
      if (found?.point.type === 'string') return [{ ...each, message: `${name} is text, expected a number` }];
      return found ? [] : [{ ...each, message: unknownName('name', name, knownNames(each.device, named)) }];
    }),
  );
  if (problems.length > 0) return problems;
  const keyed = new Map(dependent.map((each) => [keyOf(each), each]));
  const order = orderOf(
    new Map(
      Array.from(keyed, ([key, { device, point }]) => [
        key,
        needsOf(point).map((name) => qualified(device, name)),
      ]),
    ),
  );
  const blamed = order.ok ? undefined : keyed.get(order.name);
  return blamed && !order.ok ? [{ ...blamed, message: order.message }] : [];
}

function needsOf({ signal }: DependentPoint['point']): readonly string[] {
  return signal?.definition.needs ?? [];
}

function keyOf({ device, point: { name, table, address } }: DependentPoint): string {
  return name === undefined ? `${device} ${table} ${address}` : qualified(device, name);
}

function qualified(device: string, name: string): string {
  return name.includes('.') ? name : `${device}.${name}`;
}

/** Names as they are written in a signal of the device. */
function knownNames(device: string, named: ReadonlyMap<string, unknown>): string[] {
  const own = `${device}.`;
  return [...named.keys()].map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
}
