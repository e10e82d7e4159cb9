import type { Device } from '../../device/device.js';
import type { FaultRules } from '../../device/faults/rules.js';
import { writeValue } from '../../simulator/commands/device-value.js';
import type { Simulator } from '../../simulator/simulator.js';
import { Outage } from '../tested-line.js';
import type { ScenarioStep } from './scenario.js';

/** What the faults of a step did to a request that they apply to. */
export interface Spoilt {
  /** Why none of the faults could act; undefined if one could. */
  readonly notAchieved: string | undefined;
  /** False while `notAchieved` may still change: the reply of a real device decides it when it comes. */
  readonly isDecided: boolean;
}

/**
 * Carries out the actions of steps. Faults and manners end with their step. At the end, closed lines are
 * reopened, and devices get their power back.
 */
export class Actions {
  /**
   * Resolves when the lines that the step closes are closed; after its end, when they are open again. In the
   * second case it says why one could not be opened, as a sentence. Undefined if the step closes no line.
   */
  changing: Promise<string | undefined> | undefined;
  readonly #simulator: Simulator;
  readonly #rules: FaultRules;
  #names: string[] = [];
  /** How many times each fault of the current step had acted when the last request came, by name. */
  readonly #hits = new Map<string, number>();
  /** Functions that remove the manners of the current step. */
  #lent: (() => void)[] = [];
  /** The lines that the current step has closed, and those that are being reopened. */
  #outages: readonly Outage[] = [];
  /** Functions that drop bytes which lines could not send at once. */
  readonly #unsent: (() => void)[] = [];
  readonly #dark = new Set<Device>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
    this.#rules = simulator.faults.rules;
  }

  /**
   * Reports what the faults of the current step have done since the last call; undefined if none acted. Call
   * it with the event of each request: the line emits that event after the faults have acted on the reply,
   * and before it looks at the next request.
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

  /**
   * Begins the actions of a step. `changing` resolves when the lines that it closes are closed.
   * @returns why the simulator can't do them; undefined on success
   */
  begin({ faults, changes, manners, closed, power, clocks, unsolicited }: ScenarioStep): string | undefined {
    this.#outages = [];
    for (const rule of faults) {
      if (!this.#rules.hasRoomFor(rule.name)) return 'too many fault rules are active';
      this.#rules.set(rule, { temporary: true });
      this.#names.push(rule.name);
    }
    for (const { target, value } of changes) writeValue(target, value);
    this.#lent = manners.map((each) => each.device.lendManners(each.manners));
    this.#mannersChanged();
    for (const { device, change } of power) {
      if (change === 'on') device.restore(0);
      else device.interrupt(change);
      if (change !== 'on' && change.forMs === undefined) this.#dark.add(device);
      else this.#dark.delete(device);
    }
    for (const { device, ms } of clocks) device.setClock({}, ms);
    this.#unsent.push(...unsolicited.flatMap(({ line, bytes }) => line.sendUnsolicited(bytes) ?? []));
    this.#outages = closed.map((line) => new Outage(line, this.#simulator));
    if (closed.length > 0)
      this.changing = Promise.all(this.#outages.map((outage) => outage.begin())).then(() => undefined);
    return undefined;
  }

  /** True while a step keeps this line closed. */
  keepsClosed(line: string): boolean {
    return this.#outages.some((outage) => outage.line.name === line && outage.isOn);
  }

  /**
   * Removes the faults and manners of the current step, and begins to reopen the lines that it closed:
   * `changing` resolves when they are open. Calling it twice is harmless.
   */
  endStep(): void {
    this.#mannersChanged();
    for (const giveBack of this.#lent.splice(0)) giveBack();
    for (const name of this.#names) this.#rules.remove(name);
    this.#names = [];
    this.#hits.clear();
    this.changing = undefined;
    if (this.#outages.length === 0) return;
    const opened = Promise.all(this.#outages.map((outage) => outage.end()));
    this.changing = opened.then((problems) => problems.find((problem) => problem !== undefined));
  }

  /** Register names in the traffic depend on the manners of devices. */
  #mannersChanged(): void {
    if (this.#lent.length > 0) this.#simulator.changes.lineRevision++;
  }

  /** Ends the current step, and restores the power of devices that a step switched off for good. */
  end(): void {
    this.endStep();
    for (const giveUp of this.#unsent.splice(0)) giveUp();
    for (const device of this.#dark) device.restore(0);
  }
}
