import type { Logger } from 'pino';
import { Bus } from '../bus/bus.js';
import type { Configuration, LineDefinition } from '../config/configuration.js';
import { faultLine } from '../config/fault-line.js';
import type { Device } from '../device/device.js';
import type { FaultLine } from '../faults/ability.js';
import type { FaultRules } from '../faults/rules.js';
import { RTU, SOCKET } from '../protocol/framing.js';
import { characterTime } from '../protocol/timing.js';
import type { ActionSource } from '../registers/action.js';
import { Ledger } from '../traffic/ledger.js';
import { buildDevice } from './build-device.js';
import { FaultControl } from './fault-control.js';
import type { Line } from './line.js';
import { SerialBusLine } from './serial-bus-line.js';
import { TcpBusLine } from './tcp-bus-line.js';

/** What happened to each line at the start, for the person who started the simulator. */
export type SimulatorStart =
  | { readonly ok: true; readonly lines: readonly { readonly name: string; readonly description: string }[] }
  | { readonly ok: false; readonly error: string };

/** Devices on lines, built from a configuration. */
export class Simulator {
  readonly devices: ReadonlyMap<string, Device>;
  readonly lines: ReadonlyMap<string, Line>;
  readonly ledger = new Ledger();
  readonly faults: FaultControl;

  constructor(configuration: Configuration, log: Logger) {
    const source = actionSource();
    this.faults = new FaultControl(configuration.faults);
    this.devices = new Map(configuration.devices.map((device) => [device.name, buildDevice(device, source)]));
    this.lines = new Map(
      configuration.lines.map((line) => [
        line.name,
        buildLine(line, this.devices, this.faults.rules, this.ledger, log.child({ line: line.name })),
      ]),
    );
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
      lines.push({ name: line.name, description: started.description });
    }
    return { ok: true, lines };
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.lines.values(), (line) => line.stop()));
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
}

function buildLine(
  definition: LineDefinition,
  devices: ReadonlyMap<string, Device>,
  faults: FaultRules,
  ledger: Ledger,
  log: Logger,
): Line {
  const units = new Map(Array.from(definition.units, ([unitId, device]) => [unitId, known(devices, device)]));
  const place = faultLine(definition);
  if (definition.kind === 'tcp') {
    const bus = new Bus({ ...place, framing: SOCKET, characterTime: 0 }, units, faults);
    return new TcpBusLine(definition, bus, ledger, log);
  }
  const bus = new Bus(
    { ...place, framing: RTU, characterTime: characterTime(definition.baudRate) },
    units,
    faults,
  );
  return new SerialBusLine(definition, bus, ledger, log);
}

function known(devices: ReadonlyMap<string, Device>, name: string): Device {
  const device = devices.get(name);
  if (!device) throw new Error(`configuration names an unknown device: ${name}`);
  return device;
}

function actionSource(): ActionSource {
  const startedAt = performance.now();
  return { random: Math.random, now: () => new Date(), uptime: () => performance.now() - startedAt };
}
