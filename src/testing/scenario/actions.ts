import { writeValue } from '../../control/device-value.js';
import type { Device } from '../../device/device.js';
import type { FaultRules } from '../../faults/rules.js';
import type { Step } from './scenario.js';

/** Does what steps ask for, and takes it back. */
export class Actions {
  readonly #rules: FaultRules;
  #names: string[] = [];
  /** How often the faults of the running step had acted when the last request came. */
  #hits = 0;
  /** Devices that a step has switched off for good. */
  readonly #dark = new Set<Device>();

  constructor(rules: FaultRules) {
    this.#rules = rules;
  }

  /**
   * Whether a fault of the running step has acted since this was last called. Call it with the event of each request: the line
   * makes it after the faults have acted on its reply, and before the next request is looked at.
   */
  haveActed(): boolean {
    const before = this.#hits;
    this.#hits = this.#names.reduce((sum, name) => sum + (this.#rules.get(name)?.hits ?? 0), 0);
    return this.#hits > before;
  }

  /** @returns why the simulator can't do it, undefined when it is done */
  begin({ faults, changes, power }: Step): string | undefined {
    for (const rule of faults) {
      if (!this.#rules.hasRoomFor(rule.name)) return 'there are too many fault rules in force';
      this.#rules.set(rule, { temporary: true });
      this.#names.push(rule.name);
    }
    for (const { target, value } of changes) writeValue(target, value);
    for (const { device, change } of power) {
      if (change === 'on') device.restore(0);
      else device.interrupt(change);
      if (change !== 'on' && change.forMs === undefined) this.#dark.add(device);
      else this.#dark.delete(device);
    }
    return undefined;
  }

  /** A fault ends with its step. */
  endStep(): void {
    for (const name of this.#names) this.#rules.remove(name);
    this.#names = [];
    this.#hits = 0;
  }

  /** Gives devices their supply back that a step has switched off for good. */
  end(): void {
    this.endStep();
    for (const device of this.#dark) device.restore(0);
  }
}
