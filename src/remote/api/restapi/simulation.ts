import type { Rpc } from '../../rpc/rpc.js';
import { type Failure, refused } from '../failure.js';
import type { Simulation } from './call-request.js';
import { inMs } from './fields.js';

/** The name of the fault rule that carries out a simulation. The rule is listed among the others. */
const RULE = 'restapi-calls';

/** The simulation of responses of /restapi/calls: its settings, and the fault rule that carries them out. */
export class ResponseSimulation {
  readonly #rpc: Rpc;
  /**
   * The settings that were started, and the seed drawn for the rule. The seed shows whether the rule is still
   * ours.
   */
  #started: { readonly settings: Simulation; readonly seed: number } | undefined;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  /**
   * The settings in force, with the remaining number of responses in `clearAfter`; undefined if the
   * simulation is off or used up.
   */
  async active(): Promise<Simulation | undefined> {
    const started = this.#started;
    const rule = await this.#ownRule();
    return started && rule?.remaining ? { ...started.settings, clearAfter: rule.remaining } : undefined;
  }

  /** Starts a simulation. @returns why it can't start; then nothing has changed */
  async start(settings: Simulation): Promise<Failure | undefined> {
    const rule = { name: RULE, when: { count: settings.clearAfter }, do: faultsOf(settings) };
    const outcome = await this.#rpc.call('rule.replace', { rule });
    if (!outcome.ok) return refused(outcome);
    this.#started = { settings, seed: outcome.value.seed };
    return undefined;
  }

  async stop(): Promise<void> {
    if (await this.#ownRule()) await this.#rpc.call('rule.remove', { name: RULE });
    this.#started = undefined;
  }

  /** Our rule; undefined if another client has replaced or removed it. */
  async #ownRule() {
    const rule = this.#started && (await this.#rpc.call('rule.get', { name: RULE }));
    return rule?.ok && rule.value.seed === this.#started?.seed ? rule.value : undefined;
  }
}

/**
 * The settings as faults, in the order in which they act. A rule needs at least one fault, so a delay of 0
 * stands in if there is no other.
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
