import type { FaultRule } from '../../device/faults/rule.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Spoilt } from './actions.js';
import { NearestMiss } from './nearest-miss.js';
import type { Seen } from './seen.js';

/** Conditions that may keep a rule from acting on a request that fits all its other conditions. */
const LIMITS = ['after', 'every', 'probability', 'from', 'for'] as const;

/** Follows what becomes of the faults of a step. */
export class ArmedFaults {
  readonly #rules: readonly FaultRule[];
  readonly #nearest: NearestMiss;
  #isAimed = false;
  #achieved = false;
  #notAchieved: string | undefined;
  /**
   * Sequence number of the newest request to a real device on which the faults are to act, until its reply
   * decides that.
   */
  #undecided: number | undefined;

  constructor(rules: readonly FaultRule[]) {
    this.#rules = rules;
    this.#nearest = new NearestMiss(
      rules.map(({ when, values }) => ({ condition: when, ...(values && { values }) })),
    );
  }

  /**
   * Looks at a request or a reply.
   * @param spoilt what the faults of the step did to it; undefined when none acted
   */
  see(seen: Seen, spoilt: Spoilt | undefined): void {
    if (spoilt) {
      this.#isAimed = true;
      this.#notAchieved ??= spoilt.notAchieved;
      if (!spoilt.isDecided) this.#undecided = seen.event.seq;
    } else if (!this.#isAimed) {
      this.#nearest.see(seen);
    }
  }

  /** Looks at an event that may be the reply to a spoilt request. */
  hear(event: TrafficEvent): void {
    if (event.kind !== 'reply') return;
    if (event.request === this.#undecided) this.#undecided = undefined;
    for (const { rule, notAchieved } of event.acted) {
      if (!this.#rules.some(({ name }) => name === rule)) continue;
      if (notAchieved === undefined) this.#achieved = true;
      else this.#notAchieved ??= notAchieved;
    }
  }

  /** The request whose reply will show whether the faults could act; undefined when that is known. */
  get undecided(): number | undefined {
    return this.#achieved ? undefined : this.#undecided;
  }

  /** Says why none of the faults acted; undefined when one did, or when there are none. */
  get whyNot(): string | undefined {
    if (this.#rules.length === 0 || this.#achieved) return undefined;
    if (this.undecided !== undefined)
      return 'what the fault did is not known: the reply of the real device did not come in time';
    if (this.#notAchieved !== undefined) return `the fault could not act: ${this.#notAchieved}`;
    if (this.#isAimed) return undefined;
    const nearest = this.#nearest.text(`met its conditions, ${this.#limits}`);
    return nearest === undefined
      ? 'no request came after the fault was armed'
      : `the fault never acted; ${nearest}`;
  }

  get #limits(): string {
    const keys = LIMITS.filter((key) => this.#rules.some(({ when }) => when[key] !== undefined));
    const limits = [...keys, ...(this.#rules.some(({ schedule }) => schedule) ? ['schedule'] : [])];
    return limits.length === 0
      ? 'but got no reply that the fault could act on'
      : `but ${limits.map((key) => `\`${key}\``).join(' or ')} kept the fault from acting`;
  }
}
