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

/** A simulator in this process whose lines are open, and its REST interface, to which requests are injected. */
export interface RunningSimulator {
  readonly simulator: Simulator;
  readonly rest: Rest;
  /** What has been logged so far, at all levels. */
  readonly log: readonly LogEntry[];
  /** What a client opens: the pseudo-terminal of a virtual line, the port of a real one. */
  path(line: string): string;
  /** The port that a line on a socket listens on. */
  port(line: string): number;
  /** A client of a TCP line, of the first one without a name; it is gone when the simulator stops. */
  client(line?: string): RawClient;
  /** Adds a fault rule, or replaces the one of its name. */
  addRule(rule: object): void;
  stop(): Promise<void>;
}

const running = new Set<RunningSimulator>();

/** Opens the lines of a configuration; the ports and paths that it leaves open are any free ones. */
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

/** Stops what `startSimulator` has started, after each test of the file (or the block) that calls this. */
export function stopAfterEach(): void {
  afterEach(async () => {
    for (const each of running) await each.stop();
  });
}

/** Holding registers of a device, as they are now. */
export function holding({ simulator }: RunningSimulator, device: string, address: number, quantity: number) {
  const { tables } = simulator.devices.get(device) as Device;
  return tables.holding.readWords(address, quantity);
}
