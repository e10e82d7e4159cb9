import { type FaultRule, ruleSchema } from '../../faults/rule.js';
import { TOO_MANY_RULES } from '../../faults/rules.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import type { FaultControl } from '../../simulator/fault-control.js';
import { NO_SIMULATION, type Simulation } from './call-request.js';
import { inMs } from './fields.js';
import { type Failure, failure, mistakes } from './outcome.js';

/** The fault rule that a simulation is; it shows up among the others under this name. */
const RULE = 'restapi-calls';

/** The response simulation of /restapi/calls: settings, and the one fault rule that carries them out. */
export class ResponseSimulation {
  readonly #faults: FaultControl;
  #started: { readonly settings: Simulation; readonly rule: FaultRule } | undefined;

  constructor(faults: FaultControl) {
    this.#faults = faults;
  }

  /** The settings in force, with the responses left in `clearAfter`; undefined when it is off or used up. */
  get active(): Simulation | undefined {
    if (!this.#started) return undefined;
    const status = this.#faults.rules.get(RULE);
    // Another client may have replaced or removed the rule.
    if (status?.rule !== this.#started.rule || !status.remaining) return undefined;
    return { ...this.#started.settings, clearAfter: status.remaining };
  }

  get settings(): Simulation {
    return this.active ?? NO_SIMULATION;
  }

  /**
   * Starts a simulation. Returns why it can't start, with nothing changed: there are too many fault rules, or the
   * settings make no valid rule.
   */
  start(settings: Simulation): Failure | undefined {
    if (!this.#faults.rules.hasRoomFor(RULE)) return failure(TOO_MANY_RULES);
    const findings = new Findings();
    const written = { name: RULE, when: { count: settings.clearAfter }, do: faultsOf(settings) };
    const rule = new At(written, findings).check(ruleSchema);
    if (!rule) return mistakes(findings);
    this.#faults.rules.set(rule);
    this.#started = { settings, rule };
    return undefined;
  }

  stop(): void {
    if (this.#faults.rules.get(RULE)?.rule === this.#started?.rule) this.#faults.rules.remove(RULE);
    this.#started = undefined;
  }
}

/**
 * The settings as faults, in the order in which they act. A rule needs at least one fault, so a delay of 0 is added if
 * there is no other.
 */
function faultsOf({ type, errorCode, junkLength, delay, splitDelay, changeRate }: Simulation): object[] {
  const faults: object[] = [];
  if (type === 'error') faults.push({ exception: errorCode });
  if (type === 'empty') faults.push({ silence: true });
  if (type === 'junk') faults.push(junkLength > 0 ? { junk: junkLength } : { truncate: 0 });
  if (changeRate > 0) faults.push({ change: { percent: 100, probability: changeRate / 100 } });
  if (splitDelay > 0) faults.push({ split: { at: 'middle', gap: inMs(splitDelay) } });
  if (delay > 0 || faults.length === 0) faults.push({ delay: inMs(delay) });
  return faults;
}
