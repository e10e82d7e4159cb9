import { type DependentPoint, dependencyProblems } from '../config/native/dependencies.js';
import type { FaultRule } from '../faults/rule.js';
import type { Line } from './line.js';

/** The lines that have a unit with one of these devices. */
export function linesWith(lines: Iterable<Line>, devices: ReadonlySet<string>): Line[] {
  return Array.from(lines).filter(({ definition }) =>
    Array.from(definition.units.values()).some((device) => devices.has(device)),
  );
}

/** The units of a line without those of these devices, as a change of the line has them. */
export function unitsWithout({ definition }: Line, devices: ReadonlySet<string>): Record<string, string> {
  const remaining = Array.from(definition.units).filter(([, device]) => !devices.has(device));
  return Object.fromEntries(remaining.map(([unitId, device]) => [String(unitId), device]));
}

/** The first rule that names the line. */
export function ruleForLine(rules: Iterable<FaultRule>, line: string): FaultRule | undefined {
  return Array.from(rules).find(({ when }) => [when.line ?? []].flat().includes(line));
}

/** The first rule that names a value of one of these devices. */
export function ruleForDevices(
  rules: Iterable<FaultRule>,
  devices: ReadonlySet<string>,
): FaultRule | undefined {
  return Array.from(rules).find(({ values }) => values?.some(({ device }) => devices.has(device)));
}

/** The first device whose signals need a value of one of these devices. */
export function deviceThatNeeds(
  network: readonly DependentPoint[],
  devices: ReadonlySet<string>,
): string | undefined {
  const [problem] = dependencyProblems(network.filter(({ device }) => !devices.has(device)));
  return problem?.device;
}
