import { MAX_SEED } from '../../common/random.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import type { Device } from '../../device/device.js';
import { hintAtQuantities } from '../../device/faults/condition.js';
import { type FaultRule, namesIn, ruleSchema, usableRule } from '../../device/faults/rule.js';
import { whyNothingUnsolicited } from '../../document/native/line.js';
import { mannersProblems, mannersSchema } from '../../document/native/manners-schema.js';
import { parseChange, valueNamed, whyUnchangeable } from '../../simulator/commands/device-value.js';
import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { MannersChange, PowerChange, ScenarioStep, UnsolicitedBytes, ValueChange } from './scenario.js';
import { forwardSchema, powerSchema, unsolicitedBytesSchema } from './schema.js';

/** Maximum number of entries in a list in a step. All of them are read in one turn of the event loop. */
const MOST_IN_A_STEP = 256;

/** Reads a single value or a list of values. Undefined after reporting that the list is too long. */
export function oneOrMore(at: At): At[] | undefined {
  if (!Array.isArray(at.value)) return [at];
  return isTooMuch(at, at.value.length) ? undefined : at.items();
}

/**
 * Reads the names and contents in a mapping. Undefined after reporting that there is no mapping, or that it
 * is empty or too long.
 */
function namedEntries(at: At, expected: string): [name: string, content: At][] | undefined {
  const entries = at.entries(expected);
  return entries && isTooMuch(at, entries.length) ? undefined : entries;
}

function isTooMuch(at: At, count: number): boolean {
  if (count <= MOST_IN_A_STEP) return false;
  at.wrong(`expected at most ${MOST_IN_A_STEP} in one list, got ${count}`);
  return true;
}

/** The state shared by the faults of a scenario. Faults are numbered, so that each gets a name and a seed. */
export interface FaultNumbers {
  readonly seed: number;
  next: number;
  /** The lines that the scenario names, for faults that name none; undefined: any line. */
  readonly line: string | readonly string[] | undefined;
  /** True if the scenario names its program under test, which steps can stop and start. */
  readonly hasDut: boolean;
}

/** Reads `fault`: one rule or a list of rules, as in a native file; the name is optional. */
export function readFaults(at: At, simulator: Simulator, numbers: FaultNumbers): FaultRule[] {
  return (oneOrMore(at) ?? []).flatMap((each) => readFault(each, simulator, numbers) ?? []);
}

function readFault(at: At, simulator: Simulator, numbers: FaultNumbers): FaultRule | undefined {
  if (!isMapping(at.value)) return at.expected('a fault rule, as in {when: {unit: 1}, do: [{crc: invert}]}');
  const number = numbers.next++;
  const written = at.with({ name: `test-${number}`, ...at.value }).check(ruleSchema);
  const rule = aimedAt(numbers.line, written ?? namesIn(at));
  hintAtQuantities(rule.when.quantity, at.key('when').key('quantity'));
  const usable = usableRule(rule, simulator.ruleHome);
  if (!usable.ok) {
    for (const { path, message } of usable.error) at.below(path).wrong(message);
    return undefined;
  }
  if (simulator.faults.rules.has(rule.name)) at.key('name').wrong(`a rule named ${rule.name} already exists`);
  return written && { seed: (numbers.seed + number) % (MAX_SEED + 1), ...usable.value };
}

/** Limits a rule to these lines, unless it names others. */
function aimedAt(lines: FaultNumbers['line'], rule: FaultRule): FaultRule {
  if (lines === undefined || rule.when.line !== undefined) return rule;
  return { ...rule, when: { ...rule.when, line: [lines].flat() } };
}

/** Reads `set`: values by name, in their units. */
export function readChanges(at: At, simulator: Simulator): ValueChange[] {
  return (namedEntries(at, 'values by name, as in {meter.voltage: 260}') ?? []).flatMap(([name, content]) => {
    const found = simulator.findValue(name);
    if (!found.ok) return content.wrong(found.error) ?? [];
    const { device: owner, bit } = found.value;
    if (bit) return content.wrong(`is a bit of ${owner}.${bit.of}: set the whole value`) ?? [];
    const device = simulator.devices.get(owner);
    const target = device && valueNamed(device, name.slice(owner.length + 1));
    if (!target) return [];
    const why = whyUnchangeable(target);
    if (why !== undefined) return content.wrong(why) ?? [];
    const change = parseChange(target, content.value, false);
    return change.ok ? [{ target, value: change.value }] : (content.expected(change.error) ?? []);
  });
}

/** Reads `manners`: additional manners of devices, by device name. */
export function readManners(at: At, simulator: Simulator): MannersChange[] {
  const lines = Array.from(simulator.lines.values(), ({ definition }) => definition);
  return namedDevices(at, simulator, '{meter: {holes: silence}}').flatMap(([device, content]) => {
    const manners = content.check(mannersSchema);
    if (manners === undefined) return [];
    const { name, real } = device;
    const problems = mannersProblems(manners, { name, isReal: real !== undefined }, lines);
    for (const { path, message, code } of problems) content.below(path).wrong(message, code);
    return problems.length > 0 ? [] : [{ device, manners }];
  });
}

/** Reads `closed`: the names of lines that the scenario watches. */
export function readClosed(at: At, { lines }: Simulator, watched: FaultNumbers['line']): Line[] {
  const closed = (oneOrMore(at) ?? []).flatMap((each) => {
    const name = String(each.value);
    const line = lines.get(name);
    if (!line) return each.wrong(unknownName('line', name, [...lines.keys()])) ?? [];
    if (watched !== undefined && ![watched].flat().includes(name))
      return each.wrong(`the scenario does not watch line ${name}: add it to \`line\``) ?? [];
    return [line];
  });
  return [...new Set(closed)];
}

/** Reads `power`: the power of devices, by device name. */
export function readPower(at: At, simulator: Simulator): PowerChange[] {
  return namedDevices(at, simulator, '{meter: {off: 20s}}').flatMap<PowerChange>(([device, content]) => {
    const power = content.check(powerSchema);
    if (power === undefined) return [];
    if (power === 'on') return [{ device, change: 'on' }];
    return [{ device, change: power === 'off' ? { bootMs: 0 } : { forMs: power.off, bootMs: power.boot } }];
  });
}

/** Reads `clock`: how far to advance the clocks of devices, by device name. */
export function readClocks(at: At, simulator: Simulator): ScenarioStep['clocks'] {
  return namedDevices(at, simulator, '{meter: 1h}').flatMap(([device, content]) => {
    const ms = content.check(forwardSchema);
    return ms === undefined ? [] : [{ device, ms }];
  });
}

/** Reads `unsolicited`: bytes as hexadecimal text, by the name of the line that sends them. */
export function readUnsolicited(at: At, { lines }: Simulator): UnsolicitedBytes[] {
  return (namedEntries(at, 'bytes by line name, as in {bus: "00 ff"}') ?? []).flatMap(([name, content]) => {
    const line = lines.get(name);
    if (!line) return content.wrong(unknownName('line', name, [...lines.keys()])) ?? [];
    const { definition } = line;
    const isMonitor = definition.kind === 'serial' && definition.mode === 'monitor';
    const why = whyNothingUnsolicited(definition.kind, isMonitor);
    if (why !== undefined) return content.wrong(why) ?? [];
    const bytes = content.check(unsolicitedBytesSchema);
    return bytes === undefined ? [] : [{ line, bytes }];
  });
}

/** Reads a mapping by device names. Reports each name that no device has. */
function namedDevices(at: At, { devices }: Simulator, example: string): [Device, At][] {
  return (namedEntries(at, `devices by name, as in ${example}`) ?? []).flatMap<[Device, At]>(
    ([name, content]) => {
      const device = devices.get(name);
      if (!device) return content.wrong(unknownName('device', name, [...devices.keys()])) ?? [];
      return [[device, content]];
    },
  );
}
