import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { pathText } from '../../../common/schema/problem.js';
import type { CommandContext } from '../../../simulator/commands/context.js';
import { problemText } from '../../../simulator/commands/refusal.js';
import { defineRegisters, restoreSignal } from '../../../simulator/commands/values.js';
import { restoreDevice } from '../../../simulator/state/device-state.js';
import {
  type ClockState,
  clockStateSchema,
  deviceStateSchema,
  type FileContent,
  keptStateSchema,
} from '../../../simulator/state/kept-state.js';
import { restoreSimulator } from '../../../simulator/state/reconcile.js';
import type { StateFiles } from './state-files.js';
import { CLOCK_FILE, deviceFile, isDeviceFile, SIMULATOR_FILE } from './state-names.js';

/** How often a running clock is saved, in ms. After a crash, clocks are ahead by at most this time. */
export const CLOCK_INTERVAL_MS = 60_000;

export interface RestoredState {
  /** Running time of the program in ms, summed over all restarts. */
  readonly uptime: number;
  /** The names of devices whose files contain their current state. */
  readonly devices: ReadonlySet<string>;
  /** The names of lines whose settings differ from the configuration. */
  readonly lines: ReadonlySet<string>;
  /** Whether lines, rules or the list of devices differ from the configuration. */
  readonly isChanged: boolean;
  /** Number of parts that could not be restored and were set aside. */
  readonly setAside: number;
  /** The folders with states set aside after failed starts. */
  readonly ended: readonly string[];
}

interface RestoreContext {
  readonly context: CommandContext;
  readonly files: StateFiles;
  readonly file: FileContent;
  readonly log: Logger;
  /** Returns the time of day in ms. */
  readonly now: () => number;
  /** Whether the service manager created the directory for this program. */
  readonly isService?: boolean;
}

/**
 * Restores the changes of an earlier run, on a simulator that has not started yet. Damaged files are set
 * aside; none of them is fatal.
 */
export async function restoreState(surroundings: RestoreContext): Promise<RestoredState> {
  const { context, files, file } = surroundings;
  const { simulator } = context;
  const found = await files.open(surroundings.isService);
  if (found.note !== undefined) surroundings.log.warn(found.note);
  const reader = new StateReader(surroundings);
  const folder = found.ended === undefined ? undefined : await reader.ended(found.names, found.ended);
  const names = found.ended === undefined ? found.names : [];
  const kept = names.includes(SIMULATOR_FILE)
    ? await reader.read(SIMULATOR_FILE, keptStateSchema)
    : undefined;
  const restored = kept && (await restoreSimulator(context, file, kept));
  if (restored && restored.problems.length > 0) await reader.unfitting(SIMULATOR_FILE, restored.problems);
  const clock = names.includes(CLOCK_FILE) ? await reader.read(CLOCK_FILE, clockStateSchema) : undefined;

  const states = [];
  for (const name of names.filter(isDeviceFile)) {
    const state = await reader.read(name, deviceStateSchema);
    if (state) states.push({ name, state });
  }
  const latest = Math.max(0, clock?.uptime ?? 0, ...states.map(({ state }) => state.uptime));
  const uptime = latest + (clock ? missed(clock, surroundings.now()) : 0);
  const devices = new Set<string>();
  for (const { name, state } of states) {
    const device = simulator.devices.get(state.device);
    if (!device || name !== deviceFile(state.device)) {
      await reader.unfitting(name, ['there is no such device']);
      continue;
    }
    const kept = { device, definition: simulator.definitionOf(state.device) };
    const problems = restoreDevice(kept, state, {
      uptime,
      define: (registers) => problemText(defineRegisters(context, { device: device.name, ...registers })),
      placeSignal: (point, { signal }) => problemText(restoreSignal(context, device, point, signal)),
    });
    if (problems.length > 0) await reader.unfitting(name, problems);
    else devices.add(state.device);
  }
  return {
    uptime,
    devices,
    lines: restored?.lines ?? new Set(),
    isChanged: kept !== undefined,
    setAside: reader.setAside,
    ended: [...found.setAside, ...(folder === undefined ? [] : [folder])],
  };
}

/**
 * How long in ms the clock may have run after it was last saved. After an orderly stop this is 0. After a
 * crash it is unknown: at most the time until now, and at most one interval. One interval is also assumed if
 * the time of day went backwards.
 */
function missed({ ended, at }: ClockState, now: number): number {
  if (ended) return 0;
  return now > at ? Math.min(now - at, CLOCK_INTERVAL_MS) : CLOCK_INTERVAL_MS;
}

/** Reads the files of a state, and sets aside those that can't be used. */
class StateReader {
  readonly #files: StateFiles;
  readonly #log: Logger;
  readonly #now: () => number;
  setAside = 0;

  constructor({ files, log, now }: RestoreContext) {
    this.#files = files;
    this.#log = log;
    this.#now = now;
  }

  async read<Output>(name: string, schema: z.ZodType<Output>): Promise<Output | undefined> {
    const read = await this.#files.read(name);
    const parsed = 'text' in read ? parse(read.text, schema) : read;
    if ('state' in parsed) return parsed.state;
    await this.#report(name, `damaged-${this.#time}`, [parsed.problem]);
    return undefined;
  }

  /** Sets the whole state aside. @returns the name of its folder; undefined if there is no state */
  async ended(names: readonly string[], why: string): Promise<string | undefined> {
    const folder = await this.#files.setAsideTogether(names, this.#time);
    if (folder === undefined) return undefined;
    this.setAside += names.length;
    this.#log.warn({ files: names }, `state set aside: ${why}; kept in ${folder}`);
    return basename(folder);
  }

  get #time(): string {
    return new Date(this.#now()).toISOString().replace(/[-:.]/g, '');
  }

  async unfitting(name: string, problems: readonly string[]): Promise<void> {
    await this.#report(name, 'unfitting', problems);
  }

  async #report(name: string, suffix: string, problems: readonly string[]): Promise<void> {
    this.setAside++;
    const where = await this.#files.setAside(name, suffix);
    this.#log.warn({ file: name, problems }, `state set aside: ${problems[0]}; ${where}`);
  }
}

function parse<Output>(
  text: string,
  schema: z.ZodType<Output>,
): { readonly state: Output } | { readonly problem: string } {
  try {
    const result = schema.safeParse(JSON.parse(text));
    if (result.success) return { state: result.data };
    const [issue] = result.error.issues;
    return { problem: `not in the format of this version, at ${pathText(issue?.path.map(String) ?? [])}` };
  } catch (error) {
    return { problem: `not JSON: ${(error as Error).message.slice(0, 100)}` };
  }
}
