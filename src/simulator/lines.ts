import type { Device } from '../device/device.js';
import type { FaultRule } from '../device/faults/rule.js';
import type { LineDefinition, UnitNames } from '../document/configuration.js';
import { devicesOf, unitsAt } from '../document/native/units.js';
import type { Served, Units } from './bus/stations.js';
import { type Devices, inOrder } from './devices.js';
import { Line, type LineContext, type WantedLine } from './line.js';

/** The lines that have one of these devices as a unit. */
export function linesWith(lines: Iterable<Line>, devices: ReadonlySet<string>): Line[] {
  return Array.from(lines).filter(({ definition }) =>
    devicesOf(definition).some((device) => devices.has(device)),
  );
}

/** The units of a line except those of these devices, as a change to the line. */
export function unitsWithout({ definition }: Line, devices: ReadonlySet<string>): Record<string, string> {
  const remaining = Array.from(definition.units).filter(([, device]) => !devices.has(device));
  return Object.fromEntries(remaining.map(([unitId, device]) => [String(unitId), device]));
}

/** The first rule that names the line. */
export function ruleForLine(rules: Iterable<FaultRule>, line: string): FaultRule | undefined {
  return Array.from(rules).find(({ when }) => [when.line ?? []].flat().includes(line));
}

/** Everything that may use a device. */
interface Plant {
  readonly lines: Iterable<Line>;
  readonly rules: Iterable<FaultRule>;
  readonly devices: ReadonlyMap<string, Device>;
  readonly fallbacks: readonly (readonly [device: string, fallback: string])[];
}

/**
 * Why devices can't be removed; undefined if they can.
 * @param force also remove the units that use the devices
 */
export function whyNeeded(
  devices: ReadonlySet<string>,
  { lines, rules, devices: present, fallbacks }: Plant,
  force: boolean,
): string | undefined {
  const rule = ruleForDevices(rules, devices);
  if (rule) return `fault rule ${rule.name} names a value of the device; remove the rule first`;
  const dependent = deviceThatNeeds(present, devices);
  if (dependent !== undefined) return `a signal of device ${dependent} needs a value of the device`;
  const held = fallbacks.find(([device, fallback]) => devices.has(fallback) && !devices.has(device));
  if (held) return `it is the fallback of device ${held[0]}; remove that device first`;
  for (const line of linesWith(lines, devices)) {
    const { length } = Object.keys(unitsWithout(line, devices));
    if (length === 0) return `line ${line.name} has no other units; remove the line first`;
    if (!force)
      return `line ${line.name} has units with the device; remove them first, or use force to remove both`;
  }
  return undefined;
}

/** The first rule that names a value of one of these devices. */
function ruleForDevices(rules: Iterable<FaultRule>, devices: ReadonlySet<string>): FaultRule | undefined {
  return Array.from(rules).find(({ values }) => values?.some(({ device }) => devices.has(device)));
}

/** The first device whose signals depend on a value of one of these devices. */
function deviceThatNeeds(
  present: ReadonlyMap<string, Device>,
  devices: ReadonlySet<string>,
): string | undefined {
  const needsOne = ({ needs }: { readonly needs: readonly string[] }) =>
    needs.some((name) => devices.has(name.slice(0, Math.max(0, name.lastIndexOf('.')))));
  for (const { name, points } of present.values()) {
    if (devices.has(name)) continue;
    if (points.foreign.some(needsOne) || points.feeds.some(({ signal }) => needsOne(signal.definition)))
      return name;
  }
  return undefined;
}

/** The lines of a simulator, each with the devices behind it. */
export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #devices: Devices;
  readonly #context: LineContext;

  constructor(definitions: readonly LineDefinition[], devices: Devices, context: LineContext) {
    this.#devices = devices;
    this.#context = context;
    for (const definition of definitions) this.add({ definition, served: this.servedBy(definition) });
  }

  get byName(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  servedBy(definition: LineDefinition): Served {
    const units = this.#unitsOf(definition.units);
    if (definition.kind === 'serial' || definition.each === undefined) return { units };
    const { hosts = [] } = definition;
    const at = new Map(hosts.map((host) => [host, this.#unitsOf(unitsAt(definition, host))]));
    return { units, at };
  }

  #unitsOf(names: UnitNames): Units {
    return new Map(Array.from(names, ([unitId, name]) => [unitId, this.#devices.get(name)]));
  }

  /** Adds a line under a free name, without opening it. */
  add({ definition, served }: WantedLine): Line {
    const { name } = definition;
    const { log, ...context } = this.#context;
    const line = new Line(definition, served, { ...context, log: log.child({ line: name }) });
    this.#lines.set(name, line);
    return line;
  }

  /** Adds a dropped line again. */
  putBack(line: Line): void {
    this.#lines.set(line.name, line);
  }

  /**
   * Sorts the lines in this order. Lines that are not named come last. Requests that name no line are for the
   * first one.
   */
  arrange(names: readonly string[]): void {
    inOrder(this.#lines, names);
  }

  /** Removes a line from the list, without closing it. */
  drop(name: string): void {
    this.#lines.delete(name);
  }
}
