import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { counted } from '../../../common/words.js';
import type { Device } from '../../../device/device.js';
import type { Configuration } from '../../../document/configuration.js';
import type { CommandContext } from '../../../simulator/commands/context.js';
import type { Simulator } from '../../../simulator/simulator.js';
import { deviceStateText, hasCounters, hasSignals } from '../../../simulator/state/device-state.js';
import {
  type ClockState,
  deviceFingerprint,
  type FileContent,
  FORMAT,
  isAsInFile,
  jsonOf,
  keptState,
} from '../../../simulator/state/kept-state.js';
import type { StateOptions } from '../../command-line/commands/serve.js';
import { CLOCK_INTERVAL_MS, type RestoredState, restoreState } from './restore-state.js';
import { StateFiles } from './state-files.js';
import { CLOCK_FILE, deviceFile, SIMULATOR_FILE } from './state-names.js';

/** How often the change counters are compared, in ms. */
const LOOK_MS = 100;
/** Changes are collected for this many ms, so that a change every millisecond does not wear out a memory card. */
const WRITE_MS = 1000;

interface Kept {
  readonly simulator: Simulator;
  readonly files: StateFiles;
  readonly log: Logger;
  /** Returns the time of day in ms. */
  readonly now: () => number;
  /** Returns monotonic time in ms. */
  readonly uptime: () => number;
}

/** Saves a simulator's changes to files at most once a second. Writes nothing if nothing changed. */
export class StateKeeper {
  readonly #kept: Kept;
  #file: FileContent;
  /** The value of `Device.changes` when each device was last saved. */
  readonly #written = new Map<Device, number>();
  /** The definitions and revisions in `bench.json` when it was last written. */
  #simulator: readonly unknown[];
  /** Whether `bench.json` exists, as far as this program knows. */
  #isSimulatorKept: boolean;
  /** When the existence of the files was last checked, in ms. */
  #filesAt = Number.NEGATIVE_INFINITY;
  /** The program's running time when the monotonic clock was 0, in ms. */
  readonly #earlier: number;
  /**
   * When the clock was last saved, in ms. It is saved immediately after the start, because the program may be
   * killed at any time.
   */
  #clockAt = Number.NEGATIVE_INFINITY;
  #roundAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #end: Promise<void> | undefined;
  #trouble: string | undefined;
  readonly #ended: readonly string[];

  /** @param file content of the configuration, which the running simulator is compared with */
  constructor(kept: Kept, file: FileContent, restored: RestoredState) {
    this.#kept = kept;
    this.#file = file;
    this.#earlier = restored.uptime - kept.uptime();
    for (const device of kept.simulator.devices.values()) {
      // Compute each device's fingerprint now: once lines are running, reading a whole definition would take
      // too long.
      deviceFingerprint(kept.simulator.definitionOf(device.name));
      if (restored.devices.has(device.name) || !needsFile(device)) {
        this.#written.set(device, device.changes);
      }
    }
    this.#simulator = restored.setAside > 0 ? [] : this.#parts();
    this.#isSimulatorKept = restored.isChanged;
    this.#ended = restored.ended;
  }

  /** The new content of the configuration after a reload. */
  set file(file: FileContent) {
    this.#file = file;
  }

  /** Starts saving the state. Call it after the program has started. */
  async begin(): Promise<void> {
    const { files, log } = this.#kept;
    await files.started().catch((error: Error) => this.#failed(error));
    for (const folder of this.#ended)
      log.warn(
        `${join(files.directory, folder)} has a state that was set aside. To use it again, stop the program and move its files to ${files.directory}; otherwise remove it`,
      );
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Writes everything that is still unsaved, once. Call it when nothing can change any more. */
  end(): Promise<void> {
    this.#end ??= this.#finish();
    return this.#end;
  }

  async #finish(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.#write(true);
    await this.#kept.files.close();
  }

  /** Records that the program did not start, for a reason other than its state. */
  async cancel(): Promise<void> {
    await this.#kept.files.close();
  }

  #look(): void {
    if (this.#kept.uptime() - this.#roundAt < WRITE_MS) return;
    this.#roundAt = Number.POSITIVE_INFINITY;
    const begunAt = this.#kept.uptime();
    this.#round = this.#write(false).then((hasWritten) => {
      this.#roundAt = hasWritten ? begunAt : Number.NEGATIVE_INFINITY;
    });
  }

  /** @returns whether there was anything to write */
  async #write(isEnd: boolean): Promise<boolean> {
    const { simulator, files, uptime } = this.#kept;
    if (isEnd || uptime() - this.#filesAt >= CLOCK_INTERVAL_MS) await this.#lookForFiles();
    const isClockDue = isEnd || uptime() - this.#clockAt >= CLOCK_INTERVAL_MS;
    const devices = Array.from(simulator.devices.values());
    const due = devices.filter((device) => this.#isDue(device, isClockDue));
    const gone = Array.from(this.#written.keys()).filter(
      (device) => simulator.devices.get(device.name) !== device,
    );
    const parts = this.#parts();
    const isSimulatorDue = !isSame(parts, this.#simulator);
    const hasClocks = (isClockDue || due.length > 0) && devices.some(hasSignals);
    if (due.length + gone.length === 0 && !isSimulatorDue && !hasClocks) return false;
    try {
      // Removed devices come first, because a new device that replaces one may have no file of its own.
      for (const device of gone) await this.#forget(device);
      // This file defines the devices added through REST. It is written before their registers, because the
      // program may be killed in between.
      if (isSimulatorDue) await this.#writeSimulator();
      this.#simulator = parts;
      for (const device of due) await this.#writeDevice(device);
      if (hasClocks) await this.#writeClock(isEnd);
      await files.sync();
      this.#recovered();
    } catch (error) {
      this.#failed(error as Error);
    }
    return true;
  }

  #isDue(device: Device, isClockDue: boolean): boolean {
    const written = this.#written.get(device);
    if (written === undefined) return needsFile(device);
    return written !== device.changes || (isClockDue && hasCounters(device));
  }

  async #writeDevice(device: Device): Promise<void> {
    const { simulator, files } = this.#kept;
    // The device was removed while others were being written.
    if (simulator.devices.get(device.name) !== device) return;
    const { changes } = device;
    const definition = simulator.definitionOf(device.name);
    await files.write(deviceFile(device.name), deviceStateText({ definition, device }, this.#time));
    this.#written.set(device, changes);
  }

  async #forget(device: Device): Promise<void> {
    await this.#kept.files.remove(deviceFile(device.name));
    this.#written.delete(device);
  }

  /** Finds files that have been removed, and rewrites them even if nothing changes. */
  async #lookForFiles(): Promise<void> {
    this.#filesAt = this.#kept.uptime();
    const names = await this.#kept.files.present().catch((error: Error) => this.#failed(error));
    if (!names) return;
    for (const device of this.#written.keys()) {
      if (needsFile(device) && !names.has(deviceFile(device.name))) this.#written.delete(device);
    }
    if (this.#isSimulatorKept && !names.has(SIMULATOR_FILE)) this.#simulator = [];
    if (!names.has(CLOCK_FILE)) this.#clockAt = Number.NEGATIVE_INFINITY;
  }

  async #writeSimulator(): Promise<void> {
    const { simulator, files } = this.#kept;
    const state = keptState(this.#file, simulator.running);
    this.#isSimulatorKept = !isAsInFile(state);
    if (!this.#isSimulatorKept) await files.remove(SIMULATOR_FILE);
    else await files.write(SIMULATOR_FILE, [jsonOf(state, 1), '\n']);
  }

  async #writeClock(ended: boolean): Promise<void> {
    const { files, now, uptime } = this.#kept;
    const notedAt = uptime();
    const state: ClockState = { format: FORMAT, uptime: this.#time, at: now(), ended };
    await files.write(CLOCK_FILE, [`${JSON.stringify(state)}\n`]);
    this.#clockAt = notedAt;
  }

  get #time(): number {
    return this.#earlier + this.#kept.uptime();
  }

  #parts(): readonly unknown[] {
    const { lines, devices, faults } = this.#kept.simulator;
    const definitions = Array.from(lines.values(), ({ definition }) => definition);
    return [this.#file, faults.rules.changes, ...definitions, ...devices.values()];
  }

  /** Logs a failure, such as a full disk, once. Writing is tried again a second later. */
  #failed({ message }: Error): void {
    if (this.#trouble !== message) {
      this.#kept.log.error(
        { reason: message },
        "the state can't be written; changes made now are lost at a restart",
      );
    }
    this.#trouble = message;
  }

  #recovered(): void {
    if (this.#trouble !== undefined) this.#kept.log.info('the state can be written again');
    this.#trouble = undefined;
  }
}

/** Whether the state of a device differs from the configuration, or will. */
function needsFile(device: Device): boolean {
  return device.changes > 0 || hasSignals(device);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, i) => each === other[i]);
}

interface StateWanted {
  readonly context: CommandContext;
  readonly configuration: Configuration;
  readonly log: Logger;
  readonly options: StateOptions;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Resolves when the program is asked to stop. */
  readonly stop: Promise<unknown>;
}

type OpenState =
  | {
      readonly ok: true;
      readonly keeper: StateKeeper;
      /**
       * Names of lines whose settings differ from the configuration. The start does not fail if one of them
       * can't be opened.
       */
      readonly lines: ReadonlySet<string>;
      readonly description: string;
    }
  | { readonly ok: false; readonly error: string };

/**
 * Restores the state of a simulator that has not started yet.
 * @returns undefined if no state is kept; an error if the state directory can't be used
 */
export async function openState({
  context,
  configuration,
  log,
  options,
  file,
  stop,
}: StateWanted): Promise<OpenState | undefined> {
  const { directory = configuration.keepsState && options.ofService } = options;
  if (!directory) {
    if (!configuration.keepsState) return undefined;
    return {
      ok: false,
      error: `${file}: state: keep needs a directory; start with --state DIR, or as a service with StateDirectory=`,
    };
  }
  const files = new StateFiles(resolve(directory));
  // If a user stops the program during its start, the state is not to blame.
  void stop.then(() => files.started()).catch(() => {});
  const now = () => Date.now();
  try {
    const isService = options.directory === undefined;
    const restored = await restoreState({ context, files, file: configuration, log, now, isService });
    const kept = { simulator: context.simulator, files, log, now, uptime: () => performance.now() };
    const keeper = new StateKeeper(kept, configuration, restored);
    return { ok: true, keeper, lines: restored.lines, description: describe(files.directory, restored) };
  } catch (error) {
    return { ok: false, error: `the state directory can't be used: ${(error as Error).message}` };
  }
}

function describe(
  directory: string,
  { devices, lines, setAside }: Awaited<ReturnType<typeof restoreState>>,
): string {
  const counts = [
    `${counted(devices.size, 'device')} and ${counted(lines.size, 'line')} restored`,
    ...(setAside > 0 ? [`${counted(setAside, 'file')} set aside (see the log)`] : []),
  ];
  return `state in ${directory}: ${counts.join(', ')}`;
}
