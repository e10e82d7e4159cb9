import type { Logger } from 'pino';
import { OK } from '../common/result.js';
import { At } from '../common/schema/at.js';
import { Findings } from '../common/schema/findings.js';
import { inSlices, type Work } from '../common/work.js';
import type { Device } from '../device/device.js';
import type { FaultRule } from '../device/faults/rule.js';
import type { FaultRules } from '../device/faults/rules.js';
import type { TableName } from '../device/tables.js';
import type {
  ApiDefinition,
  DeviceDefinition,
  LineDefinition,
  LineSource,
} from '../document/configuration.js';
import { reportSharedEndpoint, reportTooManyHosts } from '../document/native/endpoints.js';
import { nativeLine } from '../document/native/line.js';
import { mergedSource } from '../document/native/line-source.js';
import { realProblems } from '../document/native/real.js';
import { checkName, DeviceNames, devicesOf } from '../document/native/units.js';
import { type OpenRecording, recordingsIn } from '../document/recording-file.js';
import type { AddressRange } from '../modbus/protocol/pdu.js';
import {
  type Addition,
  BUSY,
  CHANGED,
  type ChangeRefusal,
  type LineChange,
  type Removal,
  refused,
} from './change-outcome.js';
import type { DeviceApart, Devices } from './devices.js';
import type { Line, WantedLine } from './line.js';
import { type Lines, linesWith, ruleForLine, unitsWithout, whyNeeded } from './lines.js';
import {
  costOf,
  costOfCopy,
  costOfDevice,
  costOfRegisters,
  MemoryBudget,
  whyTooDear,
} from './memory-budget.js';
import { networkNow, readingNewDevice } from './new-device.js';
import {
  carryOut,
  comparing,
  type Difference,
  failureText,
  type Policy,
  type StepFailure,
  type WantedSetup,
} from './plan.js';
import { SignalChanges } from './signal-changes.js';

/**
 * Maximum number of devices, and of lines. A larger number is taken for a mistake: a device can take 800 KB,
 * and each line needs a file descriptor.
 */
export const MAX_DEVICES = 1024;
export const MAX_LINES = 64;

const TOO_MANY_DEVICES = `expected at most ${MAX_DEVICES} devices`;
const TOO_MANY_LINES = `expected at most ${MAX_LINES} lines`;

/** How a simulator changes to another configuration. */
interface Become {
  readonly policy: Policy;
  /** Whether added devices count towards the memory that REST may use. */
  readonly counts: boolean;
}

type Became =
  | {
      readonly ok: true;
      readonly changed: Difference;
      /** Why steps were skipped, by name such as `line bench`. */
      readonly failed: ReadonlyMap<string, StepFailure>;
    }
  | ChangeRefusal;

interface Plant {
  readonly devices: Devices;
  readonly lines: Lines;
  readonly rules: FaultRules;
  /** The REST address. */
  readonly api: ApiDefinition;
  readonly log: Logger;
  /** The directory that relative paths start from. */
  readonly directory: string;
}

/** Changes a running simulator: its lines, its devices and their signals. A rejected change changes nothing. */
export class Changes {
  readonly #plant: Plant;
  /** True once the lines should be open. */
  isStarted = false;
  /** The memory that additions through REST may use. */
  readonly budget: MemoryBudget;
  readonly signals: SignalChanges;
  /** How often a line was added, removed or redefined. */
  lineRevision = 0;
  /** The definitions of line changes that are in progress. */
  readonly #wanted = new Set<LineDefinition>();
  /**
   * True while a whole configuration is being applied. Other changes to lines and devices are rejected during
   * that time.
   */
  #isBecoming = false;
  /** The names of devices under construction. */
  readonly #coming = new Set<string>();

  constructor(plant: Plant) {
    this.#plant = plant;
    this.budget = new MemoryBudget(plant.devices.byName, plant.rules);
    this.signals = new SignalChanges(plant.devices, this.budget, plant.directory);
  }

  /**
   * Changes settings of a line while it is running; `mergedSource` defines how. Registers keep their values.
   * If any part of the change fails, the line stays as it was. Copies of devices that are no longer used by
   * any unit are removed.
   */
  async changeLine(line: Line, change: LineSource): Promise<LineChange> {
    if (this.#isBecoming) return BUSY;
    const findings = new Findings();
    let wanted: WantedLine | undefined;
    let refusal: ChangeRefusal | undefined;
    const changed = await line.change(async (now) => {
      const read = await this.#wantedLine(now, change, findings);
      if (!read) return undefined;
      if ('error' in read) refusal = read;
      else wanted = read;
      return wanted;
    });
    if (wanted) this.#wanted.delete(wanted.definition);
    this.lineRevision++;
    this.#plant.devices.keepCopies(this.#devicesInUse());
    return findings.count > 0 ? { ok: false, error: findings } : (refusal ?? changed);
  }

  /**
   * Adds a device from its entry in the form of a native file. Its memory is reserved first; then it is read
   * and built in slices, and becomes visible only when it is complete.
   * @param recordings opens the files that its signals play; without it, the files are read at once
   * @returns `error` if the name is taken, or if there are too many devices
   */
  async createDevice(name: string, source: unknown, recordings?: OpenRecording): Promise<Addition<Device>> {
    const tooDear = whyTooDear(source);
    if (tooDear !== undefined) return refused('request.too_dear', tooDear);
    const spent = this.budget.whyNot(costOf(source).bytes);
    if (spent !== undefined) return refused('memory.spent', spent);
    const context = {
      network: networkNow(this.#plant.devices.byName),
      recordings: recordings ?? recordingsIn(this.#plant.directory),
    };
    for (;;) {
      const findings = new Findings();
      const seen = this.#plant.devices.changes;
      const definition = await inSlices(readingNewDevice(name, new At(source, findings), context));
      // A device that this one depends on may have been removed in the meantime.
      if (this.#plant.devices.changes !== seen) continue;
      if (definition) this.#reportReal(definition, new At(source, findings));
      if (!definition || findings.count > 0) return { ok: false, error: findings };
      const cost = costOfDevice(definition);
      const tooMuch = this.budget.whyNot(cost);
      if (tooMuch !== undefined) return refused('memory.spent', tooMuch);
      const added = await this.#addDevice(definition, seen);
      if (!added.ok && added === CHANGED) continue;
      if (added.ok) this.budget.countDevice(added.added, cost);
      return added;
    }
  }

  /**
   * Replaces the running devices and lines with the requested ones. Anything unchanged is not interrupted. A
   * device that changes keeps the values whose initial state is the same in both definitions.
   * @param how `all` is for REST: all or nothing, within the memory that REST may use. `each` skips what
   * fails
   * @returns what was changed and what was skipped, or why nothing was changed
   */
  async become(wanted: WantedSetup, how: Become = { policy: 'all', counts: true }): Promise<Became> {
    if (this.#isBecoming) return BUSY;
    this.#isBecoming = true;
    const became = await this.#become(wanted, how).finally(() => {
      this.#isBecoming = false;
    });
    this.lineRevision++;
    return became;
  }

  async #become(wanted: WantedSetup, { policy, counts }: Become): Promise<Became> {
    const { devices, lines } = this.#plant;
    const difference = await inSlices(this.comparing(wanted, counts));
    if (!('devices' in difference)) return difference;
    const { changed, added } = difference.devices;
    const built = await inSlices(building(devices, [...changed, ...added]));
    const running = { devices, lines, isStarted: this.isStarted };
    const outcome = await carryOut(running, difference, built, policy);
    if (!outcome.ok) return { ...outcome, error: failureText(outcome) };
    for (const { name } of counts ? [...added, ...changed] : [])
      this.budget.countDevice(devices.get(name), costOfDevice(devices.definitionOf(name)));
    devices.keepCopies(this.#devicesInUse());
    return { ok: true, changed: difference, failed: outcome.failed };
  }

  /**
   * Compares a configuration with the running one, as work that can yield.
   * @param counts whether devices count towards the memory that REST may use
   * @returns what would change, or why the configuration can't run
   */
  *comparing(wanted: WantedSetup, counts = true): Work<Difference | ChangeRefusal> {
    if (wanted.devices.length > MAX_DEVICES) return refused('device.too_many', TOO_MANY_DEVICES);
    if (wanted.lines.length > MAX_LINES) return refused('line.too_many', TOO_MANY_LINES);
    const present = { devices: this.#plant.devices, lines: this.#plant.lines };
    const difference = yield* comparing(present, wanted);
    if (!counts) return difference;
    const { added, changed, gone } = difference.devices;
    const cost = [...added, ...changed].reduce((sum, each) => sum + costOfDevice(each), 0);
    const freed = [...changed, ...gone].reduce(
      (sum, { name }) => sum + this.budget.ofDevice(this.#plant.devices.get(name)),
      0,
    );
    const spent = this.budget.whyNot(cost, freed);
    return spent === undefined ? difference : refused('memory.spent', spent);
  }

  /** Reports mistakes about the real device behind a new one. */
  #reportReal(definition: DeviceDefinition, at: At): void {
    const present = [...this.#plant.devices.byName.keys()].map((name) =>
      this.#plant.devices.definitionOf(name),
    );
    for (const { device, issue } of realProblems([...present, definition], this.#definitions))
      if (device === definition.name) at.below(issue.path).wrong(issue.message);
  }

  /**
   * Defines registers of a device that are undefined so far.
   * @returns why there is no room for them; undefined if they were defined
   */
  defineRegisters(
    device: Device,
    table: TableName,
    ranges: readonly AddressRange[],
    writable: boolean,
  ): string | undefined {
    const quantity = ranges.reduce((sum, each) => sum + each.quantity, 0);
    const end = Math.max(...ranges.map(({ address, quantity }) => address + quantity));
    const cost = costOfRegisters(quantity, Math.max(0, end - device.tables[table].window.size));
    const spent = this.budget.whyNot(cost);
    if (spent !== undefined) return spent;
    this.#plant.devices.define(device, table, ranges, writable);
    this.budget.countDevice(device, cost);
    this.#plant.log.info({ device: device.name, table, ranges }, 'registers defined');
    return undefined;
  }

  /**
   * Adds a device that was already checked. It is built in slices.
   * @param seen the count of device changes at the time of the checks; if it has changed, the device is not
   * added
   */
  async #addDevice(definition: DeviceDefinition, seen: number): Promise<Addition<Device>> {
    const { name } = definition;
    const { devices, log } = this.#plant;
    if (this.#isBecoming) return BUSY;
    if (devices.byName.has(name) || this.#coming.has(name))
      return refused('device.name_taken', `a device named ${name} already exists`);
    if (devices.byName.size + this.#coming.size >= MAX_DEVICES)
      return refused('device.too_many', TOO_MANY_DEVICES);
    this.#coming.add(name);
    const built = await inSlices(devices.building(definition)).finally(() => this.#coming.delete(name));
    if (this.#isBecoming) return BUSY;
    if (devices.changes !== seen) return CHANGED;
    // A line may have made a copy with this name in the meantime.
    if (devices.byName.has(name))
      return refused('device.name_taken', `a device named ${name} already exists`);
    devices.put([built]);
    log.info({ device: name }, 'device added');
    return { ok: true, added: built.device };
  }

  /**
   * Removes a device and its copies.
   * @param force also removes the units that use the device from their lines
   * @returns an error that names what still needs the device
   */
  async removeDevice(name: string, { force = false } = {}): Promise<Removal> {
    if (this.#isBecoming) return BUSY;
    const names = new Set([name, ...this.#plant.devices.copiesOf(name)]);
    const plant = {
      lines: this.#plant.lines.byName.values(),
      rules: this.#rules,
      devices: this.#plant.devices.byName,
      fallbacks: this.#fallbacks,
    };
    const needed = whyNeeded(names, plant, force);
    if (needed !== undefined) return refused('device.in_use', needed);
    for (const line of linesWith(this.#plant.lines.byName.values(), names)) {
      const { definition } = line;
      const isEach =
        definition.kind !== 'serial' && definition.each !== undefined && names.has(definition.each);
      const changed = await this.changeLine(line, {
        units: unitsWithout(line, names),
        ...(isEach && { each: null }),
      });
      if (!changed.ok) return refused('device.in_use', `the units of line ${line.name} could not be changed`);
    }
    // Another request may have assigned the device to a unit in the meantime.
    const inUse = this.#devicesInUse();
    if (Array.from(names).some((each) => inUse.has(each)))
      return refused('device.in_use', `a line uses ${name} again`);
    for (const each of names) this.#plant.devices.remove(each);
    this.#plant.log.info({ device: name }, 'device removed');
    return OK;
  }

  /**
   * Adds a line from its entry in the form of a native file. Opens it, unless the simulator has not started
   * yet. A line that can't be opened is removed again; the error says why.
   */
  async createLine(name: string, source: unknown): Promise<Addition<Line>> {
    const created = await this.#addLine(name, source);
    if (!created.ok || !this.isStarted) return created;
    const started = await created.added.start();
    if (started.ok) return created;
    // The line may have been removed in the meantime, and another may have its name.
    if (this.#plant.lines.byName.get(name) === created.added) this.#dropLine(name);
    return started;
  }

  async #addLine(name: string, source: unknown): Promise<Addition<Line>> {
    const refusal = this.#whyNoLine(name);
    if (refusal) return refusal;
    const findings = new Findings();
    const at = new At(source, findings);
    checkName('line', name, at.key('name'));
    const wanted = await this.#readLine(name, at);
    if (!wanted) return { ok: false, error: findings };
    if ('error' in wanted) return wanted;
    this.#wanted.delete(wanted.definition);
    // Other lines may have been added while this line's devices were being made.
    const late = this.#whyNoLine(name);
    if (late) {
      this.#plant.devices.keepCopies(this.#devicesInUse());
      return late;
    }
    const line = this.#plant.lines.add(wanted);
    this.lineRevision++;
    this.#plant.log.info({ line: name, settings: wanted.definition.source }, 'line added');
    return { ok: true, added: line };
  }

  #whyNoLine(name: string): ChangeRefusal | undefined {
    const { byName } = this.#plant.lines;
    if (this.#isBecoming) return BUSY;
    if (byName.has(name)) return refused('line.name_taken', `a line named ${name} already exists`);
    return byName.size >= MAX_LINES ? refused('line.too_many', TOO_MANY_LINES) : undefined;
  }

  /** Closes a line and removes it. Its devices stay, except for copies that no other line uses. */
  async removeLine(name: string): Promise<Removal> {
    if (this.#isBecoming) return BUSY;
    const line = this.#plant.lines.byName.get(name);
    const rule = ruleForLine(this.#rules, name);
    if (rule)
      return refused('line.in_use', `fault rule ${rule.name} refers to the line; remove the rule first`);
    this.#dropLine(name);
    await line?.stop();
    this.#plant.log.info({ line: name }, 'line removed');
    return OK;
  }

  #dropLine(name: string): void {
    this.#plant.lines.drop(name);
    this.lineRevision++;
    this.#plant.devices.keepCopies(this.#devicesInUse());
  }

  /** The changed line, with the copies that it needs; undefined after reporting mistakes. @see #readLine */
  #wantedLine(
    now: LineDefinition,
    change: LineSource,
    findings: Findings,
  ): Promise<WantedLine | ChangeRefusal | undefined> {
    return this.#readLine(now.name, new At(mergedSource(now.source, change), findings));
  }

  /**
   * Reads the line at `at`, and builds the copies that it needs in slices; undefined after reporting
   * mistakes. The returned line is among the wanted lines, so that nothing removes what it needs before it
   * exists.
   */
  async #readLine(name: string, at: At): Promise<WantedLine | ChangeRefusal | undefined> {
    const devices = new DeviceNames([...this.#plant.devices.byName.keys()]);
    const definition = nativeLine(name, at, { devices, directory: this.#plant.directory });
    for (const { values } of devices.valued.values())
      values.wrong('can be used in files only: set the values of the copy once it exists');
    if (definition) {
      const staying = this.#definitions.filter((line) => line.name !== name);
      const coming = Array.from(this.#wanted).filter((line) => line.name !== name);
      reportSharedEndpoint(definition, [...staying, ...coming], this.#plant.api, at);
      reportTooManyHosts(definition, staying, at);
    }
    if (definition === undefined || at.findings.count > 0) return undefined;
    if (!(await this.#copy(devices.copies, definition, at))) return undefined;
    if (this.#isBecoming || at.findings.count > 0) {
      this.#wanted.delete(definition);
      return this.#isBecoming ? BUSY : undefined;
    }
    return { definition, served: this.#plant.lines.servedBy(definition) };
  }

  /**
   * Makes the copies that a line needs, and adds the line to the wanted lines.
   * @returns true if the copies exist
   */
  async #copy(copies: ReadonlyMap<string, string>, definition: LineDefinition, at: At): Promise<boolean> {
    const { devices } = this.#plant;
    const units = at.key('units');
    const added = Array.from(copies).filter(([copy]) => !devices.byName.has(copy));
    const costs = added.map(([, source]) => costOfCopy(devices.get(source), devices.definitionOf(source)));
    const spent = this.budget.whyNot(costs.reduce((sum, cost) => sum + cost, 0));
    if (spent !== undefined) {
      units.wrong(spent, 'memory.spent');
      return false;
    }
    this.#wanted.add(definition);
    const sources = new Map(added.map(([, source]) => [source, devices.definitionOf(source)]));
    const built = await inSlices(devices.copying(copies));
    const isSame = Array.from(sources).every(
      ([source, before]) => devices.byName.has(source) && devices.definitionOf(source) === before,
    );
    const areThere = devicesOf(definition).every((name) => devices.byName.has(name) || copies.has(name));
    if (!isSame || !areThere || devices.takenNames(copies).length > 0) {
      this.#wanted.delete(definition);
      units.wrong(CHANGED.error, CHANGED.code);
      return false;
    }
    // Another line may have made the same copies in the meantime.
    devices.put(built.filter(({ definition: { name } }) => !devices.byName.has(name)));
    for (const [i, [copy]] of added.entries()) {
      const device = devices.get(copy);
      if (this.budget.ofDevice(device) === 0) this.budget.countDevice(device, costs[i] as number);
    }
    return true;
  }

  get #definitions(): LineDefinition[] {
    return Array.from(this.#plant.lines.byName.values(), ({ definition }) => definition);
  }

  get #rules(): FaultRule[] {
    return this.#plant.rules.list().map(({ rule }) => rule);
  }

  get #fallbacks(): readonly (readonly [device: string, fallback: string])[] {
    return Array.from(this.#plant.devices.byName.keys()).flatMap((name) => {
      const { fallback } = this.#plant.devices.definitionOf(name).real ?? {};
      return fallback === undefined ? [] : [[name, fallback] as const];
    });
  }

  #devicesInUse(): ReadonlySet<string> {
    return new Set([...this.#definitions, ...this.#wanted].flatMap(devicesOf));
  }
}

function* building(devices: Devices, definitions: readonly DeviceDefinition[]): Work<DeviceApart[]> {
  const built: DeviceApart[] = [];
  const made = new Set(definitions.map(({ name }) => name));
  for (const definition of definitions) {
    const { copyOf } = definition;
    built.push(yield* devices.building(definition, made.has(copyOf ?? '') ? undefined : copyOf));
    yield;
  }
  return built;
}
