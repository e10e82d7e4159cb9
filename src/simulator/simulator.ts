import type { Logger } from 'pino';
import type { Units } from '../bus/bus.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../config/configuration.js';
import { dependencyProblems } from '../config/native/dependencies.js';
import { nativeLine } from '../config/native/line.js';
import { type LineSource, lineSource, mergedSource } from '../config/native/line-source.js';
import { pointsByName, valueFinder } from '../config/native/named-values.js';
import { checkName } from '../config/native/names.js';
import { tellSharedPlace } from '../config/native/places.js';
import { readSignal } from '../config/native/points.js';
import { DeviceNames } from '../config/native/units.js';
import type { Device } from '../device/device.js';
import type { Point } from '../device/point.js';
import type { FaultLine } from '../faults/ability.js';
import type { FindValue } from '../faults/named-value.js';
import type { FaultRule } from '../faults/rule.js';
import type { ActionSource } from '../registers/action-kind.js';
import { At } from '../schema/at.js';
import { Findings, type Mistakes } from '../schema/findings.js';
import { TrafficStream } from '../traffic/stream.js';
import { captureLines } from './capture-lines.js';
import { describeLine } from './describe-line.js';
import { Devices } from './devices.js';
import { FaultControl } from './fault-control.js';
import { KeepingUp } from './keeping-up.js';
import { Line, type LineContext, type LineOutcome, type LineTools, type WantedLine } from './line.js';
import { networkNow } from './network-now.js';
import { readNewDevice } from './new-device.js';
import { TrafficFiles } from './traffic-file/traffic-files.js';
import { linesWith, ruleForLine, unitsWithout, whyNeeded } from './uses.js';
import type { RunningConfiguration } from './written/written-configuration.js';

/** The result of starting each line, for the person who started the simulator. */
export type SimulatorStart =
  | { readonly ok: true; readonly lines: readonly { readonly name: string; readonly description: string }[] }
  | { readonly ok: false; readonly error: string };

/** `issues`: the change is invalid, with the places. `error`: the port or the system refused the change. */
export type LineChange =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly error: string };

/** More are taken for a mistake. A device can take 800 KB, and each line takes a file descriptor. */
const MAX_DEVICES = 1024;
const MAX_LINES = 64;

const OK = { ok: true } as const;

interface Refusal {
  readonly ok: false;
  readonly error: string;
}

/** The result of adding something: `issues` when it is invalid, `error` when it can't be added. */
export type Addition<Added> =
  | { readonly ok: true; readonly added: Added }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly error: string };

/** A set of devices on lines, built from a configuration. */
export class Simulator {
  readonly traffic: TrafficStream;
  readonly trafficFiles: TrafficFiles;
  readonly #lines = new Map<string, Line>();
  readonly #log: Logger;
  readonly faults: FaultControl;
  readonly #devices: Devices;
  readonly #keepingUp: KeepingUp;
  /** Where relative paths begin. */
  readonly directory: string;
  readonly #configuration: Configuration;
  readonly #tools: LineTools | undefined;
  /** The definitions of line changes that are in progress. */
  readonly #wanted = new Set<LineDefinition>();

  /** @param tools how lines get their transports; tests pass their own */
  constructor(configuration: Configuration, log: Logger, tools?: LineTools) {
    const { devices, lines, faults, directory, traffic } = configuration;
    this.#configuration = configuration;
    this.#tools = tools;
    this.directory = directory;
    this.traffic = new TrafficStream(traffic);
    this.faults = new FaultControl(faults);
    this.#log = log;
    this.#devices = new Devices(devices, actionSource());
    this.#keepingUp = new KeepingUp(this.#devices.network);
    for (const line of lines) this.#newLine({ definition: line, units: this.#units(line) });
    this.trafficFiles = new TrafficFiles(this.traffic, captureLines(this.lines), log);
  }

  get lines(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  get devices(): ReadonlyMap<string, Device> {
    return this.#devices.byName;
  }

  /** What a device was built from. */
  definitionOf(name: string): DeviceDefinition {
    return this.#devices.definitionOf(name);
  }

  /** What is running now, to be written as a file. */
  get running(): RunningConfiguration {
    return {
      devices: Array.from(this.devices.values(), (device) => ({
        definition: this.#devices.definitionOf(device.name),
        device,
      })),
      lines: Array.from(this.lines.values(), ({ definition, state }) => ({ definition, state: state.kind })),
      rules: this.faults.rules.list(),
      faultLines: this.faultLines,
      findValue: this.findValue,
      api: this.#configuration.api,
      traffic: this.#configuration.traffic,
      keepsState: this.#configuration.keepsState === true,
      directory: this.directory,
    };
  }

  /**
   * Opens the traffic's file and every line. If one of them can't be opened, the others are closed again and its error is
   * returned.
   * @param patient names of lines that are waited for, whatever their definitions say
   */
  async start(patient: ReadonlySet<string> = new Set()): Promise<SimulatorStart> {
    const file = this.#configuration.traffic?.file;
    const problem = file && (await this.trafficFiles.start(file));
    if (problem !== undefined) return { ok: false, error: `traffic: ${problem}` };
    const lines = [];
    for (const line of this.lines.values()) {
      const started = await line.start({ waits: patient.has(line.name) });
      if (!started.ok) {
        await this.stop();
        return { ok: false, error: `line ${line.name}: ${started.error}` };
      }
      lines.push({ name: line.name, description: describeLine(line) });
    }
    this.#keepingUp.start();
    return { ok: true, lines };
  }

  async stop(): Promise<void> {
    this.#keepingUp.stop();
    await Promise.all(Array.from(this.lines.values(), (line) => line.stop()));
    await this.trafficFiles.stop();
  }

  /** Sets the signal of a value to the one defined at `at`. Undefined after reporting the mistakes in it. */
  changeSignal(device: Device, point: Point, at: At): true | undefined {
    const signal = readSignal(at, point.definition.type, this.directory);
    if (!signal) return undefined;
    const [problem] = dependencyProblems(
      networkNow(this.devices.values(), (each) => (each === point ? signal : each.placedSignal)),
    );
    if (problem) return at.key(signal.definition.kind).wrong(problem.message);
    device.points.setSignal(point, signal);
    return true;
  }

  /**
   * Changes settings of a line while it serves; `mergedSource` defines how. Registers keep their values. If any part of
   * the change fails, the line stays as it was. Copies of devices that no unit uses any more are removed.
   */
  async changeLine(line: Line, change: LineSource): Promise<LineChange> {
    const findings = new Findings();
    let wanted: WantedLine | undefined;
    const changed = await line.change((now) => {
      wanted = this.#wantedLine(now, change, findings);
      // Until the change is applied, changes of other lines must not remove the copies that it needs.
      if (wanted) this.#wanted.add(wanted.definition);
      return wanted;
    });
    if (wanted) this.#wanted.delete(wanted.definition);
    this.#devices.keepCopies(this.#devicesInUse());
    return findings.count > 0 ? { ok: false, issues: findings } : changed;
  }

  /**
   * Adds a device, which is written as in a native file.
   * @returns `error` when the name is taken, or when there are too many devices
   */
  createDevice(name: string, source: unknown): Addition<Device> {
    const findings = new Findings();
    const context = { network: networkNow(this.devices.values()), directory: this.directory };
    const definition = readNewDevice(name, new At(source, findings), context);
    return definition ? this.addDevice(definition) : { ok: false, issues: findings };
  }

  /** Adds a device that is already checked. */
  addDevice(definition: DeviceDefinition): Addition<Device> {
    const { name } = definition;
    if (this.devices.has(name)) return refused(`there is a device ${name} already`);
    if (this.devices.size >= MAX_DEVICES) return refused(`expected at most ${MAX_DEVICES} devices`);
    const added = this.#devices.add(definition);
    this.#log.info({ device: name }, 'device added');
    return { ok: true, added };
  }

  /**
   * Removes a device and the copies of it.
   * @param force also removes the units that use the device from their lines
   * @returns the error names what still needs the device
   */
  async removeDevice(name: string, { force = false } = {}): Promise<LineOutcome> {
    const names = new Set([name, ...this.#devices.copiesOf(name)]);
    const plant = {
      lines: this.lines.values(),
      rules: this.#rules,
      network: networkNow(this.devices.values()),
    };
    const needed = whyNeeded(names, plant, force);
    if (needed !== undefined) return refused(needed);
    for (const line of linesWith(this.lines.values(), names)) {
      const changed = await this.changeLine(line, { units: unitsWithout(line, names) });
      if (!changed.ok) return refused(`the units of line ${line.name} could not be changed`);
    }
    // Meanwhile another request may have given the device to a unit.
    const inUse = this.#devicesInUse();
    if (Array.from(names).some((each) => inUse.has(each))) return refused(`a line uses ${name} again`);
    for (const each of names) this.#devices.remove(each);
    this.#log.info({ device: name }, 'device removed');
    return OK;
  }

  /**
   * Adds a line, which is written as in a native file, and opens it. A line that can't be opened is not kept; the error
   * says why.
   */
  async createLine(name: string, source: unknown): Promise<Addition<Line>> {
    const created = this.addLine(name, source);
    if (!created.ok) return created;
    const started = await created.added.start();
    if (started.ok) return created;
    this.#dropLine(name);
    return started;
  }

  /** Adds a line, which is written as in a native file, without opening it. */
  addLine(name: string, source: unknown): Addition<Line> {
    if (this.lines.has(name)) return refused(`there is a line ${name} already`);
    if (this.lines.size >= MAX_LINES) return refused(`expected at most ${MAX_LINES} lines`);
    const findings = new Findings();
    const at = new At(source, findings);
    checkName('line', name, at.key('name'));
    const lines = Array.from(this.lines.values(), ({ definition }) => definition);
    const wanted = this.#readLine(name, at, (definition) => tellSharedPlace(definition, lines, at));
    if (!wanted) return { ok: false, issues: findings };
    const line = this.#newLine(wanted);
    this.#log.info({ line: name, settings: lineSource(wanted.definition) }, 'line added');
    return { ok: true, added: line };
  }

  /** Closes a line and removes it. Its devices stay, apart from copies that no other line uses. */
  async removeLine(name: string): Promise<LineOutcome> {
    const line = this.lines.get(name);
    const rule = ruleForLine(this.#rules, name);
    if (rule) return refused(`fault rule ${rule.name} is for the line; remove the rule first`);
    this.#dropLine(name);
    await line?.stop();
    this.#log.info({ line: name }, 'line removed');
    return OK;
  }

  #dropLine(name: string): void {
    this.#lines.delete(name);
    this.#devices.keepCopies(this.#devicesInUse());
  }

  #newLine(wanted: WantedLine): Line {
    const { name } = wanted.definition;
    const context: LineContext = {
      faults: this.faults.rules,
      traffic: this.traffic,
      log: this.#log.child({ line: name }),
      ...(this.#tools && { tools: this.#tools }),
    };
    const line = new Line(wanted.definition, wanted.units, context);
    this.#lines.set(name, line);
    return line;
  }

  /** The changed line, with the copies that it needs. Undefined after reporting the mistakes. */
  #wantedLine(now: LineDefinition, change: LineSource, findings: Findings): WantedLine | undefined {
    return this.#readLine(now.name, new At(mergedSource(lineSource(now), change), findings));
  }

  /**
   * The line that is written at `at`, with the copies that it needs. Undefined after reporting the mistakes.
   * @param check reports what else is wrong with the line
   */
  #readLine(name: string, at: At, check?: (definition: LineDefinition) => void): WantedLine | undefined {
    const devices = new DeviceNames([...this.#devices.byName.keys()]);
    const definition = nativeLine(name, at, { devices, directory: this.directory });
    for (const name of this.#devices.takenNames(devices.copies)) {
      at.key('units').wrong(`there is a device ${name} that is no such copy`);
    }
    if (definition) check?.(definition);
    if (definition === undefined || at.findings.count > 0) return undefined;
    this.#devices.copy(devices.copies);
    return { definition, units: this.#units(definition) };
  }

  get #rules(): FaultRule[] {
    return this.faults.rules.list().map(({ rule }) => rule);
  }

  #devicesInUse(): ReadonlySet<string> {
    const lines = Array.from(this.lines.values(), ({ definition }) => definition);
    return new Set([...lines, ...this.#wanted].flatMap(({ units }) => [...units.values()]));
  }

  /** The lines as fault rules see them. */
  get faultLines(): FaultLine[] {
    return Array.from(this.lines.values(), ({ bus }) => bus.line);
  }

  /** Finds values by name for fault rules. */
  get findValue(): FindValue {
    return valueFinder([...this.devices.keys()], (name) => {
      const device = this.devices.get(name);
      return device && pointsByName(device.points.all.map(({ definition }) => definition));
    });
  }

  /** The device for requests that name none: the first device of the first line. */
  get defaultDevice(): Device | undefined {
    for (const { bus } of this.lines.values()) {
      for (const device of bus.devices) return device;
    }
    return undefined;
  }

  #units({ units }: LineDefinition): Units {
    return new Map(Array.from(units, ([unitId, name]) => [unitId, this.#devices.get(name)]));
  }
}

function refused(error: string): Refusal {
  return { ok: false, error };
}

function actionSource(): ActionSource {
  const startedAt = performance.now();
  return { random: Math.random, now: () => new Date(), uptime: () => performance.now() - startedAt };
}
