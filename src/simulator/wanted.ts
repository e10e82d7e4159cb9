import { At } from '../common/schema/at.js';
import { Findings } from '../common/schema/findings.js';
import { unknownName } from '../common/schema/nearest.js';
import { pathText } from '../common/schema/problem.js';
import { inSlices, type Work } from '../common/work.js';
import { type FaultRule, usableRule } from '../device/faults/rule.js';
import { type DeviceDefinition, faultLine, type LineDefinition } from '../document/configuration.js';
import {
  findingProblems,
  networkOf,
  pointsByName,
  pointsOf,
  valueFinder,
} from '../document/native/dependencies.js';
import { MAX_HOSTS, reportSharedEndpoint } from '../document/native/endpoints.js';
import { mannersProblems } from '../document/native/manners-schema.js';
import { reportingReactionUses } from '../document/native/reaction-uses.js';
import { realProblems } from '../document/native/real.js';
import { copiesAt, devicesOf, nameAt } from '../document/native/units.js';
import { dependentNow, networkNow } from './new-device.js';
import { failureText, type StepFailure } from './plan.js';
import type { Simulator } from './simulator.js';

/** The requested setup: devices and lines by name, and fault rules in order. */
export interface Outline {
  readonly devices: Map<string, DeviceDefinition>;
  readonly lines: Map<string, LineDefinition>;
  rules: readonly FaultRule[];
}

/** A change to the running setup. */
export interface Edit {
  /** What it changes, such as `line bench`, for people. */
  readonly what: string;
  /** The step in a plan that makes the change, such as `line bench`. */
  readonly step: string;
  /** Makes the change. @returns why it can't be made */
  make(wanted: Outline): string | undefined;
}

export function outlineNow(simulator: Simulator): Outline {
  const { devices, lines, faults } = simulator;
  return {
    devices: new Map(Array.from(devices.keys(), (name) => [name, simulator.definitionOf(name)])),
    lines: new Map(Array.from(lines, ([name, { definition }]) => [name, definition])),
    rules: faults.rules.list().flatMap(({ rule, temporary }) => (temporary ? [] : [rule])),
  };
}

/** The result of edits. The texts are for people. */
export interface Made {
  /** What was changed, such as `line bench`. */
  readonly done: string[];
  /** What was not changed, and why. */
  readonly refused: string[];
}

/** How edits are made. */
interface Making {
  /** The devices of the file. Copies that are in the file stay even if no line uses them. */
  readonly file: readonly DeviceDefinition[];
  /** The rules of the file, if it was read again. */
  readonly configured?: readonly FaultRule[];
  /** Whether devices count towards the memory that REST may use. */
  readonly counts: boolean;
  /** Only reports what would be changed. */
  readonly preview?: boolean;
}

const PREVIEWED = { ok: true as const, failed: new Map<string, StepFailure>() };

/** Applies edits to a running simulator. */
export async function makeEdits(
  simulator: Simulator,
  edits: readonly Edit[],
  { file, configured, counts, preview = false }: Making,
): Promise<Made> {
  const { wanted, refused } = await edited(simulator, edits, new Set(file.map(({ name }) => name)));
  const setup = { devices: [...wanted.devices.values()], lines: [...wanted.lines.values()] };
  const became = preview ? PREVIEWED : await simulator.changes.become(setup, { policy: 'each', counts });
  if (became.ok && !preview) simulator.faults.become(wanted.rules, simulator.findValue, configured);
  const why = (edit: Edit) => {
    const failed = became.ok ? became.failed.get(edit.step) : became;
    return refused.get(edit) ?? (failed && failureText(failed, edit.step));
  };
  const made: Made = { done: [], refused: [] };
  for (const edit of edits) {
    const problem = why(edit);
    if (problem === undefined) made.done.push(edit.what);
    else made.refused.push(`${edit.what}: ${problem}`);
  }
  return made;
}

/**
 * Applies edits to an outline of the running setup. Edits that do not fit with earlier ones, or with the rest
 * of the setup, are skipped.
 * @returns the resulting outline, and why edits were skipped
 */
export async function edited(
  simulator: Simulator,
  edits: readonly Edit[],
  inFile: ReadonlySet<string>,
): Promise<{ readonly wanted: Outline; readonly refused: ReadonlyMap<Edit, string> }> {
  const refused = new Map<Edit, string>();
  const clashesOf = (wanted: Outline) => inSlices(findingClashes(simulator, wanted));
  // The running setup may have clashes of its own.
  const known = new Set(await clashesOf(outlineNow(simulator)));
  /** Applies all edits at once. If they do not fit, tries each half in turn to find out which ones. */
  const made = async (outline: Outline, some: readonly Edit[]): Promise<Outline> => {
    const { devices, lines, rules } = outline;
    const next = { devices: new Map(devices), lines: new Map(lines), rules };
    const problems = some.flatMap((edit) => edit.make(next) ?? []);
    settleCopies(next, inFile);
    const [problem] = [...problems, ...(await clashesOf(next)).filter((each) => !known.has(each))];
    if (problem === undefined) return next;
    const [only] = some;
    if (only && some.length === 1) {
      refused.set(only, problem);
      return outline;
    }
    const half = some.length >> 1;
    return made(await made(outline, some.slice(0, half)), some.slice(half));
  };
  return {
    wanted: edits.length === 0 ? outlineNow(simulator) : await made(outlineNow(simulator), edits),
    refused,
  };
}

/**
 * Gives copies the current definition of their source, adds copies for the addresses of lines, and removes
 * those that neither a line nor the file has.
 */
function settleCopies({ devices, lines }: Outline, inFile: ReadonlySet<string>): void {
  for (const line of lines.values()) {
    if (line.kind === 'serial' || line.each === undefined) continue;
    const { each, hosts = [] } = line;
    const source = devices.get(each);
    for (const host of source ? hosts : []) {
      const name = nameAt(each, host);
      if (source && !devices.has(name)) devices.set(name, { ...source, name, copyOf: each });
    }
  }
  const used = new Set(Array.from(lines.values()).flatMap(devicesOf));
  for (const [name, { copyOf, tables }] of devices) {
    if (copyOf === undefined) continue;
    const source = devices.get(copyOf);
    if (!used.has(name) && !inFile.has(name)) devices.delete(name);
    else if (source && source.tables !== tables) devices.set(name, { ...source, name, copyOf });
  }
}

/** Finds reasons why devices, lines and rules that are valid on their own can't run together, as sentences. */
function* findingClashes(simulator: Simulator, { devices, lines, rules }: Outline): Work<string[]> {
  const definitions = [...devices.values()];
  const findings = new Findings();
  const at = new At({}, findings);
  const clashes: string[] = [];
  const before: LineDefinition[] = [];
  let hosts = 0;
  for (const line of lines.values()) {
    yield;
    const here = at.key('lines').key(line.name);
    const made = new Set(copiesAt(line));
    for (const [unit, device] of line.units)
      if (!devices.has(device))
        here
          .key('units')
          .key(String(unit))
          .wrong(unknownName('device', device, [...devices.keys()]));
    const missing = Array.from(made).find((name) => !devices.has(name));
    if (missing !== undefined) here.wrong(`there is no device ${missing}`);
    reportSharedEndpoint(line, before, simulator.running.api, here);
    before.push(line);
    if (line.kind !== 'serial') hosts += line.hosts?.length ?? 0;
    if (hosts > MAX_HOSTS) here.wrong(`expected at most ${MAX_HOSTS} addresses on all lines`);
  }
  yield;
  const deviceAt = (name: string) => at.key('devices').key(name);
  for (const { device, issue } of realProblems(definitions, before))
    deviceAt(device).below(issue.path).wrong(issue.message);
  yield;
  for (const { name, copyOf, extras, real } of definitions) {
    if (copyOf !== undefined && !devices.has(copyOf))
      deviceAt(name).wrong(`is a copy of ${copyOf}, which no longer exists`);
    const problems = mannersProblems(extras.manners ?? {}, { name, isReal: real !== undefined }, before);
    for (const { path, message } of problems) deviceAt(name).key('manners').below(path).wrong(message);
  }
  yield;
  const running = Array.from(simulator.devices.values()).filter(
    ({ name }) => devices.get(name) === simulator.definitionOf(name),
  );
  const coming = definitions.filter(({ name }) => !running.some((device) => device.name === name));
  const network = networkOf(coming, networkNow(new Map(running.map((device) => [device.name, device]))));
  const depending = function* () {
    for (const each of coming) yield* pointsOf(each);
    yield* dependentNow(running);
  };
  for (const { device, point, message } of yield* findingProblems(depending(), network))
    clashes.push(`devices.${device}: ${point.table} ${point.address}: ${message}`);
  yield* reportingReactionUses(coming, network, (name) =>
    deviceAt(name).with(devices.get(name)?.source ?? {}),
  );
  const known = new Map<string, ReturnType<typeof pointsByName>>();
  const find = valueFinder([...devices.keys()], (name) => {
    const device = devices.get(name);
    const points = device && (known.get(name) ?? pointsByName(device.life?.points ?? []));
    if (points) known.set(name, points);
    return points;
  });
  const faultLines = before.map(faultLine);
  for (const rule of rules) {
    yield;
    const usable = usableRule(rule, { lines: faultLines, find });
    if (usable.ok) continue;
    for (const { path, message } of usable.error)
      clashes.push(`fault rule ${rule.name}: ${pathText(path)}: ${message}`);
  }
  return [...findings.listed.map(({ path, message }) => `${pathText(path)}: ${message}`), ...clashes];
}
