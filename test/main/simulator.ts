import { pino } from 'pino';
import { nativeConfiguration } from '../../src/config/native/file.js';
import type { Device } from '../../src/device/device.js';
import { ruleSchema } from '../../src/faults/rule.js';
import { At } from '../../src/schema/at.js';
import { fileFindings } from '../../src/schema/findings.js';
import { formatProblems, pathText } from '../../src/schema/problem.js';
import { Simulator } from '../../src/simulator/simulator.js';

interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningSimulator {
  readonly simulator: Simulator;
  /** What has been logged so far, at all levels. */
  readonly log: readonly LogEntry[];
  /** The client's side of a virtual line. */
  readonly path: (line: string) => string;
  /** Adds a fault rule, or replaces the one of its name. */
  readonly addRule: (rule: object) => void;
}

/** Starts a simulator in this process from what a native file would say. */
export async function startSimulator(content: object): Promise<RunningSimulator> {
  const at = new At(content, fileFindings());
  const pymodbusDevices = () => ({ ok: false, messages: [], warnings: [] }) as const;
  const configuration = nativeConfiguration(at, { pymodbusDevices, api: {}, directory: '.' });
  const problems = at.findings.listed.map(({ path, message }) => ({ path: pathText(path), message }));
  if (problems.length > 0) throw new Error(formatProblems('configuration', problems));

  const log: LogEntry[] = [];
  const write = (entry: string) => void log.push(JSON.parse(entry) as LogEntry);
  const simulator = new Simulator(configuration, pino({ level: 'debug' }, { write }));
  const started = await simulator.start();
  if (!started.ok) throw new Error(started.error);
  const path = (line: string) => {
    const description = started.lines.find(({ name }) => name === line)?.description ?? '';
    return /(?:RTU|ASCII) on (\S+)/.exec(description)?.[1] ?? `no path in: ${description}`;
  };
  const addRule = (rule: object) => void simulator.faults.rules.set(ruleSchema.parse(rule));
  return { simulator, log, path, addRule };
}

/** Holding registers of a device, as they are now. */
export function holding({ simulator }: RunningSimulator, device: string, address: number, quantity: number) {
  const { tables } = simulator.devices.get(device) as Device;
  return tables.holding.readWords(address, quantity);
}
