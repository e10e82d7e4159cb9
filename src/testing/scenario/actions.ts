import type { Device } from '../../device/device.js';
import type { FaultRules } from '../../device/faults/rules.js';
import { writeValue } from '../../simulator/commands/device-value.js';
import type { ScenarioStep } from './scenario.js';

/** The faults of a step were to act on a request. */
export interface Spoilt {
  /** Why none of them could. */
  readonly notAchieved: string | undefined;
  /** Whether that is known. What becomes of the reply of a real device is known when it comes. */
  readonly isDecided: boolean;
}

/** Does what steps ask for, and takes it back. */
export class Actions {
  readonly #rules: FaultRules;
  #names: string[] = [];
  /** How often the faults of the running step had acted when the last request came, by their names. */
  readonly #hits = new Map<string, number>();
  /** Devices that a step has switched off for good. */
  readonly #dark = new Set<Device>();

  constructor(rules: FaultRules) {
    this.#rules = rules;
  }

  /**
   * What the faults of the running step have done since this was last called; undefined when none acted. Call it with the event of
   * each request: the line makes it after the faults have acted on its reply, and before the next request is looked at.
   */
  haveActed(): Spoilt | undefined {
    const acting = this.#names.flatMap((name) => {
      const status = this.#rules.get(name);
      if (!status || status.hits === (this.#hits.get(name) ?? 0)) return [];
      this.#hits.set(name, status.hits);
      return [status];
    });
    if (acting.length === 0) return undefined;
    const couldAct = acting.some(({ notAchieved }) => notAchieved === undefined);
    const isDecided = acting.every((each) => each.isDecided);
    return { notAchieved: couldAct ? undefined : acting[0]?.notAchieved, isDecided };
  }

  /** @returns why the simulator can't do it, undefined when it is done */
  begin({ faults, changes, power }: ScenarioStep): string | undefined {
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
    this.#hits.clear();
  }

  /** Gives devices their supply back that a step has switched off for good. */
  end(): void {
    this.endStep();
    for (const device of this.#dark) device.restore(0);
  }
}
