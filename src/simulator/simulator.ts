import type { Logger } from 'pino';
import type { Units } from '../bus/bus.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../config/configuration.js';
import { type LineSource, lineSource, mergedSource } from '../config/line-source.js';
import { nativeLine } from '../config/native-lines.js';
import { DeviceNames } from '../config/native-units.js';
import type { Device } from '../device/device.js';
import type { FaultLine } from '../faults/ability.js';
import type { ActionSource } from '../registers/action.js';
import type { Issue } from '../schema/problem.js';
import { Ledger } from '../traffic/ledger.js';
import { buildDevice } from './build-device.js';
import { describeLine } from './describe-line.js';
import { FaultControl } from './fault-control.js';
import { Line } from './line.js';

/** What happened to each line at the start, for the person who started the simulator. */
export type SimulatorStart =
  | { readonly ok: true; readonly lines: readonly { readonly name: string; readonly description: string }[] }
  | { readonly ok: false; readonly error: string };

/** `issues`: the change makes no sense, with the places. `error`: the port, or the system, refused it. */
export type LineChange =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: readonly Issue[] }
  | { readonly ok: false; readonly error: string };

/** Devices on lines, built from a configuration. */
export class Simulator {
  readonly lines: ReadonlyMap<string, Line>;
  readonly ledger = new Ledger();
  readonly faults: FaultControl;
  readonly #devices = new Map<string, Device>();
  readonly #definitions = new Map<string, DeviceDefinition>();
  readonly #directory: string;
  readonly #source = actionSource();
  /** Changes wait for each other: each starts from what the one before has left. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(configuration: Configuration, log: Logger) {
    const { devices, lines, faults, directory } = configuration;
    this.#directory = directory;
    this.faults = new FaultControl(faults);
    for (const device of devices) this.#add(device);
    const context = { faults: this.faults.rules, ledger: this.ledger };
    this.lines = new Map(
      lines.map((line) => [
        line.name,
        new Line(line, this.#units(line), { ...context, log: log.child({ line: line.name }) }),
      ]),
    );
  }

  get devices(): ReadonlyMap<string, Device> {
    return this.#devices;
  }

  /** Opens every line. When one can't be opened the others are closed again and its error is returned. */
  async start(): Promise<SimulatorStart> {
    const lines = [];
    for (const line of this.lines.values()) {
      const started = await line.start();
      if (!started.ok) {
        await this.stop();
        return { ok: false, error: `line ${line.name}: ${started.error}` };
      }
      lines.push({ name: line.name, description: describeLine(line) });
    }
    return { ok: true, lines };
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.lines.values(), (line) => line.stop()));
  }

  /**
   * Changes settings of a line while it serves; see `mergedSource` for how. All or nothing: registers stay, and what
   * can't be had leaves the line as it was.
   */
  changeLine(line: Line, change: LineSource): Promise<LineChange> {
    const done = this.#changes.then(() => this.#changeLine(line, change));
    this.#changes = done.catch(() => {});
    return done;
  }

  async #changeLine(line: Line, change: LineSource): Promise<LineChange> {
    const issues: Issue[] = [];
    const devices = new DeviceNames([...this.#devices.keys()]);
    const context = { devices, directory: this.#directory };
    const source = mergedSource(lineSource(line.definition), change);
    const definition = nativeLine(line.name, source, context, [], issues);
    for (const name of this.#takenNames(devices.copies)) {
      issues.push({ path: ['units'], message: `there is a device ${name} that is no such copy` });
    }
    if (!definition || issues.length > 0) return { ok: false, issues };
    const made = this.#copyDevices(devices.copies);
    const changed = await line.change(definition, this.#units(definition));
    if (!changed.ok) for (const name of made) this.#remove(name);
    return changed;
  }

  /** The lines as fault rules see them. */
  get faultLines(): FaultLine[] {
    return Array.from(this.lines.values(), ({ bus }) => bus.line);
  }

  /** The device a client means who names none: the first one of the first line. */
  get defaultDevice(): Device | undefined {
    for (const { bus } of this.lines.values()) {
      for (const device of bus.devices) return device;
    }
    return undefined;
  }

  #units({ units }: LineDefinition): Units {
    return new Map(Array.from(units, ([unitId, name]) => [unitId, this.#device(name)]));
  }

  #device(name: string): Device {
    const device = this.#devices.get(name);
    if (!device) throw new Error(`configuration names an unknown device: ${name}`);
    return device;
  }

  /** Names of copies that other devices have. */
  #takenNames(copies: ReadonlyMap<string, string>): string[] {
    return Array.from(copies).flatMap(([name, source]) => {
      const present = this.#definitions.get(name);
      // A copy shares the tables of its source.
      return present && present.tables !== this.#definitions.get(source)?.tables ? [name] : [];
    });
  }

  /** Makes the copies that units ask for, unless there are such devices already; the names of the new ones. */
  #copyDevices(copies: ReadonlyMap<string, string>): string[] {
    return Array.from(copies).flatMap(([name, source]) => {
      const definition = this.#definitions.get(source);
      if (!definition || this.#devices.has(name)) return [];
      this.#add({ ...definition, name });
      return [name];
    });
  }

  #remove(name: string): void {
    this.#definitions.delete(name);
    this.#devices.delete(name);
  }

  #add(definition: DeviceDefinition): void {
    this.#definitions.set(definition.name, definition);
    this.#devices.set(definition.name, buildDevice(definition, this.#source));
  }
}

function actionSource(): ActionSource {
  const startedAt = performance.now();
  return { random: Math.random, now: () => new Date(), uptime: () => performance.now() - startedAt };
}
