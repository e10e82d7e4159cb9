import type { At } from '../common/schema/at.js';
import { atOnce, type Work } from '../common/work.js';
import type { Device } from '../device/device.js';
import type { Point } from '../device/point.js';
import { type DependentPoint, findingProblems } from '../document/native/dependencies.js';
import { readSignal, reportStale } from '../document/native/points.js';
import { type OpenRecording, recordingsIn } from '../document/recording-file.js';
import { CHANGED } from './change-outcome.js';
import type { Devices } from './devices.js';
import { costOf, type MemoryBudget } from './memory-budget.js';
import { dependentNow, dependentPoint, networkNow } from './new-device.js';

/** Changes the signals of values while a simulator is running. */
export class SignalChanges {
  readonly #devices: Devices;
  readonly #budget: MemoryBudget;
  /** The directory that relative paths start from. */
  readonly #directory: string;
  #changes = 0;

  constructor(devices: Devices, budget: MemoryBudget, directory: string) {
    this.#devices = devices;
    this.#budget = budget;
    this.#directory = directory;
  }

  /**
   * Sets the signal of a value to the definition at `at`; undefined after reporting its mistakes.
   * @param recordings opens the file that the signal plays; without it, the file is read at once
   */
  change(device: Device, point: Point, at: At, recordings?: OpenRecording): true | undefined {
    return atOnce(this.changing(device, point, at, recordings));
  }

  /** Does the same as `change`, as work that can yield. Reports if the device was removed in the meantime. */
  *changing(device: Device, point: Point, at: At, recordings?: OpenRecording): Work<true | undefined> {
    const cost = costOf(at.value).bytes;
    const spent = this.#budget.whyNot(cost, this.#budget.ofSignal(device, point));
    if (spent !== undefined) return at.wrong(spent, 'memory.spent');
    const signal = readSignal(at, point.definition.type, recordings ?? recordingsIn(this.#directory));
    if (!signal) return undefined;
    const mistakes = at.findings.count;
    reportStale(signal, at, point.definition);
    if (at.findings.count > mistakes) return undefined;
    const devices = this.#devices.byName;
    const changed = { point, signal };
    const own = dependentPoint(device.name, point, changed);
    const all = function* () {
      yield own;
      yield* dependentNow(devices.values(), changed);
    };
    let problem: (DependentPoint & { readonly message: string }) | undefined;
    let seen: number;
    do {
      // Another request may have made a change in the meantime that forms a cycle with this one.
      seen = this.#dependencyChanges;
      [problem] = yield* findingProblems(all(), networkNow(devices, changed));
    } while (this.#dependencyChanges !== seen);
    if (devices.get(device.name) !== device) return at.wrong(CHANGED.error, CHANGED.code);
    if (problem) return at.key(signal.definition.kind).wrong(problem.message);
    device.points.setSignal(point, signal);
    this.#changes++;
    this.#budget.countSignal(device, point, signal, cost);
    return true;
  }

  /** How often a change was made that could create a cycle of signals. */
  get #dependencyChanges(): number {
    return this.#devices.changes + this.#changes;
  }
}
