import type { Logger } from 'pino';
import { isSameData } from '../common/schema/parts.js';
import { atOnce } from '../common/work.js';
import type { DependencyGraph } from '../device/dependency-graph.js';
import type { Device } from '../device/device.js';
import type { FaultLine } from '../device/faults/kind.js';
import { type FaultRule, type FindValue, type RuleHome, resolveNames } from '../device/faults/rule.js';
import { FaultRules, type RuleSource } from '../device/faults/rules.js';
import type { ActionSource } from '../device/registers/actions.js';
import type { Configuration, DeviceDefinition, TrafficFileDefinition } from '../document/configuration.js';
import { pointsByName, valueFinder } from '../document/native/dependencies.js';
import { newClient } from '../modbus/client/client.js';
import { systemClock } from '../modbus/transport/clock.js';
import type { RunningConfiguration } from './as-file/written-configuration.js';
import { Changes } from './changes.js';
import { Devices } from './devices.js';
import type { Line, LineTools } from './line.js';
import { describeLine } from './line-status.js';
import { Lines } from './lines.js';
import { type Differing, differing } from './plan.js';
import { RealLines } from './proxy/bridge.js';
import { TrafficStream } from './traffic/stream.js';

/** The fault rules of a simulator: the configured ones, and those added at run time. */
export class FaultControl {
  readonly rules: FaultRules;
  #configured: readonly FaultRule[];

  constructor(configured: readonly FaultRule[], source: RuleSource) {
    this.rules = new FaultRules(source);
    this.#configured = configured;
    for (const rule of configured) this.rules.set(rule);
  }

  /**
   * Restores the configured rules with their counts at zero, like a restart. A rule that names a value
   * applies to the value that has this name now: REST may have replaced the device since the file was read.
   * If there is no such value, the rule never acts.
   */
  reset(find: FindValue): void {
    for (const { rule } of this.rules.list()) this.rules.remove(rule.name);
    for (const rule of this.#configured) this.rules.set(resolved(rule, find));
  }

  /** How these rules differ from those in force, not counting the rules of tests. */
  difference(wanted: readonly FaultRule[], find: FindValue): Differing<FaultRule> {
    const all = wanted.map((rule) => resolved(rule, find));
    return atOnce(differing(this.#lasting, all, isSameRule));
  }

  get #lasting(): FaultRule[] {
    return this.rules.list().flatMap(({ rule, temporary }) => (temporary ? [] : [rule]));
  }

  /**
   * Puts these rules in force, in this order, instead of all others except those of tests. Rules that are
   * already in force keep their counts. A name means the value that has it now.
   * @param configured the rules of the file, which `reset` restores; absent if the file has not changed
   */
  become(wanted: readonly FaultRule[], find: FindValue, configured = this.#configured): void {
    this.#configured = configured;
    const all = wanted.map((rule) => resolved(rule, find));
    const names = all.map(({ name }) => name);
    for (const { name } of this.#lasting) if (!names.includes(name)) this.rules.remove(name);
    const now = new Map(this.#lasting.map((rule) => [rule.name, rule]));
    const staysInOrder = isSameData([...now.keys()], names.slice(0, now.size));
    for (const rule of staysInOrder ? [] : now.values()) this.rules.remove(rule.name);
    for (const rule of all) if (!staysInOrder || !isSameRule(now.get(rule.name), rule)) this.rules.set(rule);
  }
}

/** Resolves the names in a rule to the current values. If there is no such value, the rule never acts. */
function resolved(rule: FaultRule, find: FindValue): FaultRule {
  const found = resolveNames(rule, find);
  return found.ok ? found.value : { ...rule, values: [] };
}

export function isSameRule(one: FaultRule | undefined, other: FaultRule): boolean {
  return one !== undefined && isSameData(asWritten(one), asWritten(other));
}

function asWritten({ faults, ...rule }: FaultRule) {
  return { ...rule, faults: faults.map(({ kind, written }) => ({ [kind]: written })) };
}

/** How often values are computed, and the maximum time for it, in ms: one hundredth of the event loop's time. */
const INTERVAL_MS = 200;
const SLICE_MS = 2;

/**
 * Keeps sums of other values, such as an energy, close to the present even if nothing reads them. One timer
 * serves all of them.
 */
class BackgroundUpdates {
  readonly #graph: DependencyGraph;
  #timer: NodeJS.Timeout | undefined;
  #round: Generator<void>;

  constructor(graph: DependencyGraph) {
    this.#graph = graph;
    this.#round = graph.updateAll();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#work(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Continues where the last slice ended. After a complete round, the next slice starts a new one. */
  #work(): void {
    this.#graph.advance();
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      if (!this.#round.next().done) continue;
      this.#round = this.#graph.updateAll();
      return;
    }
  }
}

/** The result of starting each line, for the person who started the simulator. */
type SimulatorStart =
  | { readonly ok: true; readonly lines: readonly { readonly name: string; readonly description: string }[] }
  | {
      readonly ok: false;
      readonly error: string /** Another program listens on the port. */;
      readonly inUse?: boolean;
    };

/** A set of devices on lines, built from a configuration. */
export class Simulator {
  readonly traffic: TrafficStream;
  readonly faults: FaultControl;
  /** Changes this simulator while it is running. */
  readonly changes: Changes;
  readonly #lines: Lines;
  readonly #devices: Devices;
  readonly #updates: BackgroundUpdates;
  readonly #real: RealLines;
  /** The directory that relative paths start from. */
  readonly directory: string;
  readonly #configuration: Configuration;

  /** @param tools creates the transports of lines and the clients of real devices; tests pass others */
  constructor(configuration: Configuration, log: Logger, tools?: LineTools) {
    const { devices, lines, faults, directory, traffic, api } = configuration;
    this.#configuration = configuration;
    this.directory = directory;
    this.traffic = new TrafficStream(traffic);
    const { clock = systemClock, newRealClient = newClient } = tools ?? {};
    this.faults = new FaultControl(faults, {
      now: () => new Date(),
      uptime: () => clock.now(),
      random: Math.random,
    });
    this.#real = new RealLines({
      clock,
      newClient: newRealClient,
      device: (name) => this.devices.get(name),
      report: (device, text) => this.#reportReal(device, text),
    });
    this.#devices = new Devices(devices, actionSource(), this.#real);
    this.#updates = new BackgroundUpdates(this.#devices.graph);
    const { rules } = this.faults;
    const context = { faults: rules, traffic: this.traffic, log, ...(tools && { tools }) };
    this.#lines = new Lines(lines, this.#devices, context);
    this.changes = new Changes({ devices: this.#devices, lines: this.#lines, rules, api, log, directory });
  }

  get lines(): ReadonlyMap<string, Line> {
    return this.#lines.byName;
  }

  /** How often a device was added or removed. */
  get deviceChanges(): number {
    return this.#devices.changes;
  }

  /** A number that changes when a signal is set or restarted, or a device is added or removed. */
  get signalChanges(): number {
    let changes = this.deviceChanges;
    for (const { points } of this.devices.values()) changes += points.changes + 1;
    return changes;
  }

  /** A number that changes when lines, their units or devices change. */
  get revision(): number {
    return this.#devices.changes + this.changes.lineRevision;
  }

  get devices(): ReadonlyMap<string, Device> {
    return this.#devices.byName;
  }

  /** The files to which the configuration writes the traffic; undefined if there are none. */
  get trafficFile(): TrafficFileDefinition | undefined {
    return this.#configuration.traffic?.file;
  }

  definitionOf(name: string): DeviceDefinition {
    return this.#devices.definitionOf(name);
  }

  /** The running setup, in the form that is written to a file. */
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
      mqtt: this.#configuration.mqtt,
      traffic: this.#configuration.traffic,
      keepsState: this.#configuration.keepsState === true,
      directory: this.directory,
    };
  }

  /**
   * Opens every line. If one can't be opened, closes the others again and returns its error.
   * @param patient the names of lines that may wait for their ports, whatever their definitions say
   */
  async start(patient: ReadonlySet<string> = new Set()): Promise<SimulatorStart> {
    this.changes.isStarted = true;
    const lines = [];
    for (const line of this.lines.values()) {
      const started = await line.start({ waits: patient.has(line.name) });
      if (!started.ok) {
        await this.stop();
        return { ...started, error: `line ${line.name}: ${started.error}` };
      }
      lines.push({ name: line.name, description: describeLine(line) });
    }
    this.#updates.start();
    return { ok: true, lines };
  }

  async stop(): Promise<void> {
    this.#updates.stop();
    await Promise.all([...Array.from(this.lines.values(), (line) => line.stop()), this.#real.close()]);
  }

  /** Adds a message about a real device to the traffic of each line that the device is on. */
  #reportReal(device: Device, text: string): void {
    for (const line of this.lines.values()) if (line.bus.stations.has(device)) line.report(text);
  }

  /** The lines as fault rules see them. */
  get faultLines(): FaultLine[] {
    return Array.from(this.lines.values(), ({ bus }) => bus.line);
  }

  /** The lines and values that fault rules are checked against. */
  get ruleHome(): RuleHome {
    return { lines: this.faultLines, find: this.findValue };
  }

  /** Finds values by name for fault rules. */
  get findValue(): FindValue {
    return valueFinder([...this.devices.keys()], (name) => {
      const device = this.devices.get(name);
      return device && pointsByName(device.points.all.map(({ definition }) => definition));
    });
  }

  /** The device for requests that do not name one: the first device of the first line. */
  get defaultDevice(): Device | undefined {
    for (const { bus } of this.lines.values()) {
      for (const device of bus.stations.devices) return device;
    }
    return undefined;
  }
}

function actionSource(): ActionSource {
  const startedAt = performance.now();
  return { random: Math.random, now: () => new Date(), uptime: () => performance.now() - startedAt };
}
