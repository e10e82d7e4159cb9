import type { z } from 'zod';
import { pathOf } from '../../common/rest-client/client.js';
import type { ruleSchema } from '../../device/faults/rule.js';
import type { RuleView } from '../../simulator/commands/schemas/fault.js';
import type { Call } from './call.js';

/** A fault rule as REST shows it. */
export type { RuleView };

/** One kind of fault with its parameters: `{delay: 250}`. */
export type FaultRequest = Readonly<Record<string, unknown>>;

/** A fault rule as a user writes it. */
export type RuleRequest = Omit<z.input<typeof ruleSchema>, 'do'> & {
  readonly do: FaultRequest | readonly FaultRequest[];
};

/** The fault rules of a simulator. */
export class FaultsClient {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** All rules, in the order in which they act. */
  async list(): Promise<readonly RuleView[]> {
    return ((await this.#call('GET', '/faults')) as { faults: RuleView[] }).faults;
  }

  /** A rule with its counts. */
  get(name: string): Promise<RuleView> {
    return this.#call('GET', pathOf('faults', name)) as Promise<RuleView>;
  }

  /** Adds a rule, or replaces the rule of this name and sets its counts to zero. */
  set(rule: RuleRequest): Promise<RuleView> {
    return this.#call('PUT', pathOf('faults', rule.name), rule) as Promise<RuleView>;
  }

  async remove(name: string): Promise<void> {
    await this.#call('DELETE', pathOf('faults', name));
  }

  /** Restores the rules of the configuration, with their counts at zero. */
  async reset(): Promise<readonly RuleView[]> {
    return ((await this.#call('POST', '/faults/reset')) as { faults: RuleView[] }).faults;
  }
}
