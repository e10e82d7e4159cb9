import { mannersProblems } from '../config/native/manners-schema.js';
import type { Device } from '../device/device.js';
import type { Manners } from '../device/manners.js';
import type { FaultRule } from '../faults/rule.js';
import { unknownName } from '../schema/nearest.js';
import { accept, checkedRule } from './faults.js';
import { done, type Outcome, refusal, refusalOfIssues } from './refusal.js';
import type { Room } from './room.js';

/** What a misbehaviour is for: a device, or all devices of a line. */
type Target = { readonly device: string } | { readonly line: string };

/** An entry of the catalogue, read by whoever calls: manners, and rules as they are written, for the target. */
export interface Arming {
  readonly manners: Manners | undefined;
  readonly rules: readonly Readonly<Record<string, unknown>>[];
  readonly target: Target;
}

/** What was armed, or taken back: names of devices with other manners now, and of fault rules. */
export interface Armed {
  readonly devices: readonly string[];
  readonly rules: readonly string[];
}

/** Lets a device, or all devices of a line, misbehave as an entry of the catalogue says: all of it, or nothing. */
export function armMisbehaviour(room: Room, { manners, rules, target }: Arming): Outcome<Armed> {
  const { simulator } = room;
  const devices = devicesOf(room, target);
  if (typeof devices === 'string') {
    return refusal(
      'device' in target ? 'device.unknown' : 'line.unknown',
      Object.keys(target)[0] ?? '',
      devices,
    );
  }
  const lines = Array.from(simulator.lines.values(), ({ definition }) => definition);
  const issues = devices.flatMap(({ name }) => mannersProblems(manners ?? {}, name, lines));
  if (issues.length > 0) return refusalOfIssues(issues, 'manners.no_connection');
  const checked: [FaultRule, Readonly<Record<string, unknown>>][] = [];
  for (const written of rules) {
    const rule = checkedRule(simulator, written);
    if (!rule.ok) return rule;
    checked.push([rule.value, written]);
  }
  for (const device of manners ? devices : []) device.manners = { ...device.manners, ...manners };
  for (const [rule, written] of checked) accept(room, rule, written);
  return done({
    devices: manners ? devices.map(({ name }) => name) : [],
    rules: checked.map(([{ name }]) => name),
  });
}

/** Takes back what an entry has brought about, wherever that was: its rules, and the manners that devices still have of it. */
export function disarmMisbehaviour(
  { simulator }: Room,
  { id, manners = {} }: { readonly id: string; readonly manners: Manners | undefined },
): Outcome<Armed> {
  const { rules } = simulator.faults;
  const names = rules.list().flatMap(({ rule: { name } }) => (name.startsWith(`${id}.`) ? [name] : []));
  for (const name of names) rules.remove(name);
  const changed: string[] = [];
  for (const device of simulator.devices.values()) {
    const left = Object.entries(device.manners ?? {}).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(manners[key as keyof Manners]),
    );
    if (left.length === Object.keys(device.manners ?? {}).length) continue;
    device.manners = left.length > 0 ? Object.fromEntries(left) : undefined;
    changed.push(device.name);
  }
  return done({ devices: changed, rules: names });
}

/** The devices that are meant; a sentence where there is no such device or line. */
function devicesOf({ simulator: { devices, lines } }: Room, target: Target): Device[] | string {
  if ('device' in target) {
    const device = devices.get(target.device);
    return device ? [device] : unknownName('device', target.device, [...devices.keys()]);
  }
  const line = lines.get(target.line);
  return line ? [...line.bus.devices] : unknownName('line', target.line, [...lines.keys()]);
}
