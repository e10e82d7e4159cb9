import type { Logger } from 'pino';
import type { Units } from '../bus/bus.js';
import { compact } from '../config/compact.js';
import type { Configuration, LineDefinition, TrafficFileDefinition } from '../config/configuration.js';
import { dependencyProblems } from '../config/native/dependencies.js';
import { nativeLine } from '../config/native/line.js';
import { type LineSource, lineSource, mergedSource } from '../config/native/line-source.js';
import { readSignal } from '../config/native/points.js';
import { DeviceNames } from '../config/native/units.js';
import type { Device } from '../device/device.js';
import type { Point } from '../device/point.js';
import type { FaultLine } from '../faults/ability.js';
import type { ActionSource } from '../registers/action-kind.js';
import { At } from '../schema/at.js';
import { Findings, type Mistakes } from '../schema/findings.js';
import { TrafficStream } from '../traffic/stream.js';
import { captureLines } from './capture-lines.js';
import { describeLine } from './describe-line.js';
import { Devices } from './devices.js';
import { FaultControl } from './fault-control.js';
import { Line, type WantedLine } from './line.js';
import { TrafficFiles } from './traffic-file/traffic-files.js';

/** The result of starting each line, for the person who started the simulator. */
export type SimulatorStart =
  | { readonly ok: true; readonly lines: readonly { readonly name: string; readonly description: string }[] }
  | { readonly ok: false; readonly error: string };

/** `issues`: the change is invalid, with the places. `error`: the port or the system refused the change. */
export type LineChange =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly error: string };

/** A set of devices on lines, built from a configuration. */
export class Simulator {
  readonly lines: ReadonlyMap<string, Line>;
  readonly traffic: TrafficStream;
  readonly trafficFiles: TrafficFiles;
  readonly faults: FaultControl;
  readonly #devices: Devices;
  /** Where relative paths begin. */
  readonly directory: string;
  readonly #trafficFile: TrafficFileDefinition | undefined;
  /** The definitions of line changes that are in progress. */
  readonly #wanted = new Set<LineDefinition>();

  constructor(configuration: Configuration, log: Logger) {
    const { devices, lines, faults, directory, traffic } = configuration;
    this.directory = directory;
    this.traffic = new TrafficStream(traffic);
    this.#trafficFile = traffic?.file;
    this.faults = new FaultControl(faults);
    this.#devices = new Devices(devices, actionSource());
    const context = { faults: this.faults.rules, traffic: this.traffic };
    this.lines = new Map(
      lines.map((line) => [
        line.name,
        new Line(line, this.#units(line), { ...context, log: log.child({ line: line.name }) }),
      ]),
    );
    this.trafficFiles = new TrafficFiles(this.traffic, captureLines(this.lines), log);
  }

  get devices(): ReadonlyMap<string, Device> {
    return this.#devices.byName;
  }

  /**
   * Opens the traffic's file and every line. If one of them can't be opened, the others are closed again and its error is
   * returned.
   */
  async start(): Promise<SimulatorStart> {
    const problem = this.#trafficFile && (await this.trafficFiles.start(this.#trafficFile));
    if (problem !== undefined) return { ok: false, error: `traffic: ${problem}` };
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
    await this.trafficFiles.stop();
  }

  /** Sets the signal of a value to the one defined at `at`. Undefined after reporting the mistakes in it. */
  changeSignal(device: Device, point: Point, at: At): true | undefined {
    const signal = readSignal(at, point.definition.type, this.directory);
    if (!signal) return undefined;
    const network = Array.from(this.devices.values()).flatMap(({ name, points }) =>
      points.all.map((each) => {
        const { table, address, type, name: valueName } = each.definition;
        const moved = compact({ name: valueName, signal: each === point ? signal : each.placedSignal });
        return { device: name, point: { table, address, type, ...moved } };
      }),
    );
    const [problem] = dependencyProblems(network);
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

  /** The changed line, with the copies that it needs. Undefined after reporting the mistakes. */
  #wantedLine(now: LineDefinition, change: LineSource, findings: Findings): WantedLine | undefined {
    const devices = new DeviceNames([...this.#devices.byName.keys()]);
    const context = { devices, directory: this.directory };
    const at = new At(mergedSource(lineSource(now), change), findings);
    const definition = nativeLine(now.name, at, context);
    for (const name of this.#devices.takenNames(devices.copies)) {
      at.key('units').wrong(`there is a device ${name} that is no such copy`);
    }
    if (definition === undefined || findings.count > 0) return undefined;
    this.#devices.copy(devices.copies);
    return { definition, units: this.#units(definition) };
  }

  #devicesInUse(): ReadonlySet<string> {
    const lines = Array.from(this.lines.values(), ({ definition }) => definition);
    return new Set([...lines, ...this.#wanted].flatMap(({ units }) => [...units.values()]));
  }

  /** The lines as fault rules see them. */
  get faultLines(): FaultLine[] {
    return Array.from(this.lines.values(), ({ bus }) => bus.line);
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

function actionSource(): ActionSource {
  const startedAt = performance.now();
  return { random: Math.random, now: () => new Date(), uptime: () => performance.now() - startedAt };
}
