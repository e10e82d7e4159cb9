import { ruleSchema } from '../../faults/rule.js';
import type { FaultControl } from '../../simulator/fault-control.js';
import { NO_SIMULATION, type Simulation } from './call-request.js';
import { type Failure, failure } from './outcome.js';

/** The fault rule that a simulation is; it shows up among the others under this name. */
const RULE = 'restapi-calls';

/** The response simulation of /restapi/calls: settings, and the one fault rule that carries them out. */
export class ResponseSimulation {
  readonly #faults: FaultControl;
  #settings: Simulation | undefined;

  constructor(faults: FaultControl) {
    this.#faults = faults;
  }

  /** The settings in force, undefined when the simulation is off or used up. */
  get active(): Simulation | undefined {
    return this.remaining ? this.#settings : undefined;
  }

  /** Responses until the simulation clears itself; undefined when it is off. */
  get remaining(): number | undefined {
    return this.#faults.rules.get(RULE)?.remaining;
  }

  get settings(): Simulation {
    return this.active ?? NO_SIMULATION;
  }

  start(settings: Simulation): Failure | undefined {
    const rule = ruleSchema.safeParse({
      name: RULE,
      when: { count: settings.clearAfter },
      do: faultsOf(settings),
    });
    if (!rule.success) return failure(rule.error.issues.map(({ message }) => message).join('; '));
    this.#faults.rules.set(rule.data);
    this.#settings = settings;
    return undefined;
  }

  stop(): void {
    this.#faults.rules.remove(RULE);
    this.#settings = undefined;
  }
}

const MS_PER_S = 1000;

/** The settings as faults, in the order in which they act. A rule needs at least one: no delay at all is one too. */
function faultsOf({ type, errorCode, junkLength, delay, splitDelay, changeRate }: Simulation): object[] {
  const faults: object[] = [];
  if (type === 'error') faults.push({ exception: errorCode });
  if (type === 'empty') faults.push({ silence: true });
  if (type === 'junk') faults.push(junkLength > 0 ? { junk: junkLength } : { truncate: 0 });
  if (changeRate > 0) faults.push({ change: { percent: 100, probability: changeRate / 100 } });
  if (splitDelay > 0) faults.push({ split: { at: 'middle', gap: splitDelay * MS_PER_S } });
  faults.push({ delay: delay * MS_PER_S });
  return faults;
}
