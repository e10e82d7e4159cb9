import { pino } from 'pino';
import { afterEach } from 'vitest';
import type { Device } from '../../src/device/device.js';
import { ruleSchema } from '../../src/device/faults/rule.js';
import type { Configuration } from '../../src/document/configuration.js';
import type { ApiRules } from '../../src/remote/api/app.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { RawClient } from '../modbus/transport/socket/raw-client.js';
import { Rest } from '../remote/api/rest.js';

interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A simulator in this process with open lines, and its REST interface, to which requests are injected. */
export interface RunningSimulator {
  readonly simulator: Simulator;
  readonly rest: Rest;
  /** The log so far, at all levels. */
  readonly log: readonly LogEntry[];
  /** The path that a client opens: the pseudo-terminal of a virtual line, the port of a real one. */
  path(line: string): string;
  /** The port that a socket line listens on. */
  port(line: string): number;
  /** A client of a TCP line; without a name, of the first one. It is closed when the simulator stops. */
  client(line?: string): RawClient;
  /** Adds a fault rule, or replaces the one with the same name. */
  addRule(rule: object): void;
  stop(): Promise<void>;
}

const running = new Set<RunningSimulator>();

/** Opens the lines of a configuration. Ports and paths that it does not give are any free ones. */
export async function startSimulator(
  configuration: Configuration,
  rules: ApiRules = { host: '127.0.0.1' },
  writesIn?: string,
): Promise<RunningSimulator> {
  const log: LogEntry[] = [];
  const write = (entry: string) => void log.push(JSON.parse(entry) as LogEntry);
  const rest = new Rest(configuration, rules, pino({ level: 'debug' }, { write }), writesIn);
  const { local, simulator } = rest;
  await local.start();

  const place = (line: string): string => {
    const state = simulator.lines.get(line)?.state;
    if (state?.kind !== 'open') throw new Error(`line ${line} is ${state?.kind ?? 'not there'}`);
    return state.endpoint;
  };
  const port = (line: string) => Number(new URL(`tcp://${place(line)}`).port);
  const clients: RawClient[] = [];
  const self: RunningSimulator = {
    simulator,
    rest,
    log,
    path: place,
    port,
    client(line = configuration.lines[0]?.name ?? '') {
      const client = new RawClient(port(line));
      clients.push(client);
      return client;
    },
    addRule: (rule) => void simulator.faults.rules.set(ruleSchema.parse(rule)),
    async stop() {
      running.delete(self);
      for (const { socket } of clients) socket.destroy();
      await local.stop();
    },
  };
  running.add(self);
  return self;
}

/** Stops simulators started with `startSimulator`, after each test in the file (or block) that calls this. */
export function stopAfterEach(): void {
  afterEach(async () => {
    for (const each of running) await each.stop();
  });
}

/** The current holding registers of a device. */
export function holding({ simulator }: RunningSimulator, device: string, address: number, quantity: number) {
  const { tables } = simulator.devices.get(device) as Device;
  return tables.holding.readWords(address, quantity);
}
