import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type RestoredState, restoreState } from '../../../src/cli/service/state/restore-state.js';
import { type FileSystem, StateFiles } from '../../../src/cli/service/state/state-files.js';
import { StateKeeper } from '../../../src/cli/service/state/state-keeper.js';
import { ownersContext } from '../../../src/simulator/commands/context.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { nativeSetup } from '../../support/configuration.js';

/** A simulator that is not started, with its state in a directory. */
export interface KeptSimulator {
  readonly simulator: Simulator;
  readonly restored: RestoredState;
  readonly keeper: StateKeeper;
  /** What was logged at level warning and above. */
  readonly warnings: readonly string[];
}

/** Moments of a test: the time of day, and how long the program has been running, in ms. */
export interface Times {
  now: number;
  uptime: number;
}

/** Where there is one, a disk in memory: half of the time of a thousand written states is waiting for `fsync`. */
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function stateDirectory(): string {
  const directory = mkdtempSync(join(DISK, 'state-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function filesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name !== 'modbus-sim-state.json')
    .sort();
}

/** The last program on each directory, which counts as ended, and perhaps as killed, when the next one begins. */
const last = new Map<string, StateFiles>();

/** Builds what a file says, and restores what the directory has. */
export async function keep(
  content: object,
  directory: string,
  { times = { now: 1e12, uptime: 0 }, fs }: { times?: Times; fs?: FileSystem } = {},
): Promise<KeptSimulator> {
  const file = nativeSetup(content);
  const warnings: string[] = [];
  const write = (entry: string) => void warnings.push((JSON.parse(entry) as { msg: string }).msg);
  const log = pino({ level: 'warn' }, { write });
  const simulator = new Simulator(file, log);
  await last.get(directory)?.close();
  const files = new StateFiles(directory, fs);
  last.set(directory, files);
  const now = () => times.now;
  const restored = await restoreState({ context: ownersContext(simulator, log), files, file, log, now });
  const keeper = new StateKeeper({ simulator, files, log, now, uptime: () => times.uptime }, file, restored);
  return { simulator, restored, keeper, warnings };
}
