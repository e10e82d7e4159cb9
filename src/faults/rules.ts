import { lackOf } from './ability.js';
import { matchesRequest, type RequestFacts } from './condition.js';
import { MAX_SEED, type Random, seededRandom } from './random.js';
import type { FaultRule } from './rule.js';

/** A rule that acts on a request, with the random numbers of this turn. */
export interface ActingRule {
  readonly rule: FaultRule;
  readonly random: Random;
}

/** A rule and what has come of it. */
export interface RuleStatus {
  readonly rule: FaultRule;
  readonly seed: number;
  /** Requests that the rule was for, whether it was their turn or not. */
  readonly matches: number;
  readonly hits: number;
  readonly lastHit: Date | undefined;
  /** How often it will still act; undefined when there is no limit. */
  readonly remaining: number | undefined;
}

interface Entry {
  rule: FaultRule;
  seed: number;
  matches: number;
  hits: number;
  lastHit: Date | undefined;
}

/** What is not in the rules, so that a test decides it. */
export interface RuleSource {
  now(): Date;
  /** At least 0, below 1: where seeds come from for rules that have none. */
  random(): number;
}

/** More rules than this are a slip: each of them is asked about every request. */
export const MAX_RULES = 256;

export const TOO_MANY_RULES = `expected at most ${MAX_RULES} fault rules in force; remove one first`;

/** The fault rules in force, in the order in which they act. */
export class FaultRules {
  readonly #entries = new Map<string, Entry>();
  readonly #source: RuleSource;

  constructor(source: RuleSource) {
    this.#source = source;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): RuleStatus | undefined {
    const entry = this.#entries.get(name);
    return entry && status(entry);
  }

  list(): RuleStatus[] {
    return Array.from(this.#entries.values(), status);
  }

  /** Whether a rule of this name can be put to use: in the place of another, or because there are few enough. */
  hasRoomFor(name: string): boolean {
    return this.#entries.has(name) || this.#entries.size < MAX_RULES;
  }

  /** Puts a rule to use, with its counts at zero: behind the others, or in the place of the one of the same name. */
  set(rule: FaultRule): RuleStatus {
    const seed = rule.seed ?? Math.floor(this.#source.random() * (MAX_SEED + 1));
    const entry = { rule, seed, matches: 0, hits: 0, lastHit: undefined };
    this.#entries.set(rule.name, entry);
    return status(entry);
  }

  remove(name: string): boolean {
    return this.#entries.delete(name);
  }

  /** The rules that act on a request, in order; counts their matches and hits. */
  match(facts: RequestFacts): ActingRule[] {
    const acting: ActingRule[] = [];
    for (const entry of this.#entries.values()) {
      const random = this.#turn(entry, facts);
      if (random) acting.push({ rule: entry.rule, random });
    }
    return acting;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The random numbers for this turn when the rule acts. Each match has its own, whether or not the rule acts. */
  #turn(entry: Entry, facts: RequestFacts): Random | undefined {
    const { when } = entry.rule;
    // On a line that can do nothing of it, a rule is not for the request: it must not use up its count there.
    const isAble = entry.rule.faults.some(({ needs }) => lackOf(facts.line, needs) === undefined);
    if (!isAble || !matchesRequest(when, facts)) return undefined;
    entry.matches++;
    if (when.count !== undefined && entry.hits >= when.count) return undefined;
    const turn = entry.matches - (when.after ?? 0);
    if (turn <= 0 || turn % (when.every ?? 1) !== 0) return undefined;
    const random = seededRandom(entry.seed, entry.matches);
    if (when.probability !== undefined && random.next() >= when.probability) return undefined;
    entry.hits++;
    entry.lastHit = this.#source.now();
    return random;
  }
}

function status({ rule, seed, matches, hits, lastHit }: Entry): RuleStatus {
  const { count } = rule.when;
  return { rule, seed, matches, hits, lastHit, remaining: count === undefined ? undefined : count - hits };
}
