import { aimsAt, numbersOf } from '../../device/faults/condition.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { Line } from '../line.js';

/** The unit identifier of broadcasts, which no device has. */
const BROADCAST = 0;

/** Warnings about devices of a rule that no line of the rule serves. */
export function unservedDevices({ when }: FaultRule, lines: Iterable<Line>): string[] {
  const served = [...lines].filter(({ name }) => aimsAt(when, name)).flatMap(({ bus }) => [...bus.devices]);
  const names = new Set(served.map(({ name }) => name));
  const unserved = [when.device ?? []].flat().filter((name) => !names.has(name));
  return unserved.length === 0
    ? []
    : [`when.device: no line of the rule serves ${unserved.join(', ')} at present`];
}

/**
 * Warnings about unit identifiers of a rule that no line of the rule serves. The rule never acts for these
 * units.
 */
export function unservedUnits({ when }: FaultRule, lines: Iterable<Line>): string[] {
  const aimedAt = [...lines].filter(({ name }) => aimsAt(when, name));
  const unserved = [when.unit ?? []]
    .flat()
    .filter(
      (unit) =>
        !numbersOf(unit).some((each) => each === BROADCAST || aimedAt.some(({ bus }) => bus.owns(each))),
    );
  if (unserved.length === 0) return [];
  const which = when.line === undefined ? 'no line' : 'no line of the rule';
  return [
    `when.unit: ${which} serves ${unserved.length === 1 ? 'unit' : 'units'} ${unserved.join(', ')} at present`,
  ];
}
