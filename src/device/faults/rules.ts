import { newSeed, type Random, seededRandom } from '../../common/random.js';
import { isEvery, isInState, isOpen, isSo, rangesOf } from './condition.js';
import { type RequestFacts, RuleMatcher } from './matching.js';
import type { FaultRule } from './rule.js';

/** A rule that acts on a request, with its random numbers for this request. */
export interface ActingRule {
  readonly rule: FaultRule;
  readonly random: Random;
  /** How many times the rule has acted, including this time. */
  readonly turn: number;
}

export interface RuleStatus {
  readonly rule: FaultRule;
  readonly seed: number;
  /**
   * How many requests match the rule's conditions, including those skipped by `after`, `every`, `count` or
   * `probability`.
   */
  readonly matches: number;
  readonly hits: number;
  readonly lastHit: Date | undefined;
  /** True if the time allows the rule to act now (`when.from`, `when.for` and `schedule`). */
  readonly open: boolean;
  /** True for a rule that belongs to a run: it applies during the run, and is not saved in the state. */
  readonly temporary: boolean;
  /** Why none of the faults of a temporary rule could act on the last reply; absent if one could. */
  readonly notAchieved?: string;
  /**
   * True, for a temporary rule, once the last reply has been built. The reply of a real device comes later
   * than its request.
   */
  readonly isDecided: boolean;
  /** How many more times the rule will act; undefined if there is no limit. */
  readonly remaining: number | undefined;
}

/** A rule that was in force for some time, but no longer is. */
interface PastRule {
  readonly rule: FaultRule;
  readonly seed: number;
  /** The time span in which it was in force, in ms of the source's `uptime`. */
  readonly since: number;
  readonly until: number;
  /** Its position among the rules: those armed earlier act earlier. */
  readonly place: number;
  /** Its length as JSON. */
  readonly size: number;
}

/** The maximum number of past rules kept, and of their characters as JSON. */
const MOST_PAST = 1000;
const MOST_PAST_SIZE = 1_000_000;

interface RuleEntry {
  rule: FaultRule;
  readonly seed: number;
  readonly temporary: boolean;
  /** The first and the last match of each of `when.turns`; undefined without them. */
  readonly turns: readonly (readonly [first: number, last: number])[] | undefined;
  matches: number;
  hits: number;
  lastHit: Date | undefined;
  notAchieved?: string | undefined;
  isDecided: boolean;
  /** When the rule was armed, in ms of the source's `uptime`. */
  readonly since: number;
  /** When it got its present form: it may have been switched off in the meantime. */
  changedAt: number;
  /** Its position among the rules, which a rule keeps when it is replaced or switched. */
  readonly place: number;
}

/** The external inputs of the rules, which tests replace. */
export interface RuleSource {
  now(): Date;
  /** Returns a time in ms that never goes back. The windows of rules are measured with it. */
  uptime(): number;
  /** Returns a number from 0 to below 1, for the seeds of rules that have none. */
  random(): number;
}

/** More rules than this are treated as a mistake. A request that was not seen before is checked against all of them. */
export const MAX_RULES = 256;

/** The fault rules in force, in the order in which they act. */
export class FaultRules {
  /** How many times a rule was armed, switched or removed. */
  changes = 0;
  /** How many times any rule has acted. */
  hits = 0;
  readonly #entries = new Map<string, RuleEntry>();
  readonly #source: RuleSource;
  readonly #states = new DeviceStates();
  /** The rules that were in force, in the order in which they ended. */
  readonly #past: PastRule[] = [];
  #pastSize = 0;
  /** How many positions were assigned to rules. */
  #places = 0;
  #pastFrom: number;
  /** The lines on which runs use their own faults. */
  readonly #suspendedOn = new Set<string>();
  /** Finds the rules for a request; undefined between a change and the next request. */
  #matcher: RuleMatcher<RuleEntry> | undefined;

  constructor(source: RuleSource) {
    this.#source = source;
    this.#pastFrom = source.uptime();
  }

  /** The earliest time for which the rules in force are known, in ms of the source's `uptime`. */
  get pastFrom(): number {
    return this.#pastFrom;
  }

  /** Returns the rules at a moment of the source's `uptime`, in the order in which they acted. */
  listAt(moment: number): Pick<RuleStatus, 'rule' | 'seed'>[] {
    const present = Array.from(this.#entries.values(), (entry) => ({
      ...entry,
      since: entry.changedAt,
      until: Number.POSITIVE_INFINITY,
    }));
    return [...this.#past, ...present]
      .filter(({ since, until }) => since <= moment && moment < until)
      .sort((a, b) => a.place - b.place);
  }

  /** Keeps the previous form of a rule, unless it belongs to a run, which may arm thousands. */
  #end(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry || entry.temporary) return;
    const { rule, seed, changedAt, place } = entry;
    const size = JSON.stringify([rule.when, rule.faults.map(({ written }) => written)]).length;
    this.#past.push({ rule, seed, since: changedAt, until: this.#source.uptime(), place, size });
    this.#pastSize += size;
    while (this.#past.length > MOST_PAST || this.#pastSize > MOST_PAST_SIZE) {
      const dropped = this.#past.shift();
      this.#pastSize -= dropped?.size ?? this.#pastSize;
      this.#pastFrom = dropped?.until ?? this.#pastFrom;
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): RuleStatus | undefined {
    const entry = this.#entries.get(name);
    return entry && this.#status(entry);
  }

  list(): RuleStatus[] {
    return Array.from(this.#entries.values(), (entry) => this.#status(entry));
  }

  /** Reports whether a rule with this name can be set: it replaces another one, or the limit is not reached. */
  hasRoomFor(name: string): boolean {
    return this.#entries.has(name) || this.#entries.size < MAX_RULES;
  }

  /**
   * Arms a rule with its counts at zero. It replaces the rule of the same name, or goes after the others.
   * @param how `temporary` for a rule that its owner will remove
   */
  set(rule: FaultRule, { temporary = false } = {}): RuleStatus {
    const seed = rule.seed ?? newSeed(() => this.#source.random());
    const since = this.#source.uptime();
    const place = this.#entries.get(rule.name)?.place ?? this.#places++;
    const entry = { ...begun(rule, seed), temporary, since, changedAt: since, place };
    this.#end(rule.name);
    this.changes++;
    this.#matcher = undefined;
    this.#entries.set(rule.name, entry);
    this.#forgetStates();
    return this.#status(entry);
  }

  /**
   * Switches a rule off or on. A rule that is switched off keeps its counts. A rule that is switched on is
   * armed again: counts and times start again, and the seed stays.
   * @returns false if there is no such rule
   */
  switch(name: string, isOn: boolean): boolean {
    const entry = this.#entries.get(name);
    if (!entry) return false;
    const { enabled = true, ...rule } = entry.rule;
    if (enabled === isOn) return true;
    this.changes++;
    this.#matcher = undefined;
    this.#end(name);
    const changedAt = this.#source.uptime();
    if (!isOn) Object.assign(entry, { rule: { ...rule, enabled: false }, changedAt });
    else this.#entries.set(name, { ...entry, ...begun(rule, entry.seed), since: changedAt, changedAt });
    return true;
  }

  remove(name: string): boolean {
    this.#end(name);
    this.changes++;
    this.#matcher = undefined;
    const removed = this.#entries.delete(name);
    this.#forgetStates();
    return removed;
  }

  /** Ends the states of devices that no rule sets any more. */
  #forgetStates(): void {
    const states = Array.from(this.#entries.values(), ({ rule }) => rule.becomes?.state);
    this.#states.keep(new Set(states));
  }

  /**
   * Lets only temporary rules act on a line, for a run that tests its client. The others keep their counts
   * and everything else.
   * @returns the names of the rules in force that might have acted there, and `resume`, which ends the
   * suspension
   */
  suspendOn(line: string): { readonly names: readonly string[]; readonly resume: () => void } {
    const names = this.#enabled().flatMap(({ rule: { name, when }, temporary }) =>
      !temporary && (when.line === undefined || [when.line].flat().includes(line)) ? [name] : [],
    );
    this.#suspendedOn.add(line);
    return { names, resume: () => void this.#suspendedOn.delete(line) };
  }

  /** Reports whether a rule applies to a request, whatever its times and counts. Counts nothing. */
  concern(facts: RequestFacts): boolean {
    return this.#inForce.matching(facts).length > 0;
  }

  get #inForce(): RuleMatcher<RuleEntry> {
    this.#matcher ??= new RuleMatcher(this.#enabled());
    return this.#matcher;
  }

  /** Returns the rules that act on a request, in order. Counts their matches and hits. */
  match(facts: RequestFacts): ActingRule[] {
    const acting: ActingRule[] = [];
    for (const entry of this.#inForce.matching(facts)) {
      const isSuspended = !entry.temporary && this.#suspendedOn.has(facts.line.name);
      const random = isSuspended ? undefined : this.#turn(entry, facts);
      if (!random) continue;
      acting.push({ rule: entry.rule, random, turn: entry.hits });
      if (!entry.temporary) continue;
      entry.notAchieved = undefined;
      entry.isDecided = false;
    }
    this.#states.count(facts.device);
    // A state begins after the request that triggers it.
    for (const { rule } of acting) {
      if (rule.becomes) this.#states.enter(facts, rule.becomes, this.#source.uptime());
    }
    return acting;
  }

  /**
   * Records, for tests, whether the faults of the acting rules were achieved when a reply was built.
   * @param acted what each fault of each rule did
   */
  wereApplied(
    acting: readonly ActingRule[],
    acted: readonly { readonly rule: string; readonly notAchieved?: string }[],
  ): void {
    for (const { rule } of acting) {
      const entry = this.#entries.get(rule.name);
      if (entry?.rule !== rule || !entry.temporary) continue;
      const own = acted.filter((each) => each.rule === rule.name);
      const couldAct = own.some(({ notAchieved }) => notAchieved === undefined);
      entry.notAchieved = couldAct ? undefined : own[0]?.notAchieved;
      entry.isDecided = true;
    }
  }

  #enabled(): RuleEntry[] {
    return [...this.#entries.values()].filter(({ rule }) => rule.enabled !== false);
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * Returns the random source for a request that the rule applies to, if the rule acts. Each match has its
   * own source, whether or not the rule acts.
   */
  #turn(entry: RuleEntry, facts: RequestFacts): Random | undefined {
    const { when } = entry.rule;
    if (!this.#isOpen(entry) || !isSo(when, facts.circumstances)) return undefined;
    if (!isInState(when.state, (state) => this.#states.has(facts, state, this.#source.uptime())))
      return undefined;
    entry.matches++;
    if (entry.hits >= (when.count ?? Number.POSITIVE_INFINITY)) return undefined;
    const turn = entry.matches - (when.after ?? 0);
    if (turn <= 0 || !isEvery(when.every, turn)) return undefined;
    if (entry.turns && !entry.turns.some(([first, last]) => first <= turn && turn <= last)) return undefined;
    const random = seededRandom(entry.seed, entry.matches);
    if (when.probability !== undefined && random.next() >= when.probability) return undefined;
    entry.hits++;
    this.hits++;
    entry.lastHit = this.#source.now();
    return random;
  }

  #isOpen({ rule, since }: RuleEntry): boolean {
    const { from, for: length } = rule.when;
    // Most rules have no times, and do not need the clock.
    if (from === undefined && length === undefined && rule.schedule === undefined) return true;
    return isInTime(rule, this.#source.uptime() - since);
  }

  #status(entry: RuleEntry): RuleStatus {
    const { rule, seed, temporary, matches, hits, lastHit, notAchieved, isDecided } = entry;
    const { count } = rule.when;
    const remaining = count === undefined ? undefined : count - hits;
    const open = this.#isOpen(entry);
    return {
      rule,
      seed,
      temporary,
      matches,
      hits,
      lastHit,
      open,
      remaining,
      isDecided,
      ...(notAchieved && { notAchieved }),
    };
  }
}

/** A state of a device: when it ends, and for how many more requests of the device it lasts. */
interface EnteredState {
  readonly until: number;
  readonly starts: number | undefined;
  readonly requests: number;
}

class DeviceStates {
  /** By device, then by state. */
  readonly #until = new Map<string, Map<string, EnteredState>>();

  /** Puts a device into a state. @param now in ms, always of the same clock */
  enter(
    { device, starts }: RequestFacts,
    { state, for: length, requests = Number.POSITIVE_INFINITY }: NonNullable<FaultRule['becomes']>,
    now: number,
  ) {
    const until = length === undefined ? Number.POSITIVE_INFINITY : now + length;
    const states = this.#until.get(device) ?? new Map<string, EnteredState>();
    this.#until.set(device, states.set(state, { until, starts, requests }));
  }

  /** Counts a request for those states of its device that last for a number of requests. */
  count(device: string): void {
    const states = this.#until.get(device);
    for (const [name, state] of states ?? []) {
      if (state.requests > 1) states?.set(name, { ...state, requests: state.requests - 1 });
      else states?.delete(name);
    }
  }

  /** Ends all other states of all devices. */
  keep(states: ReadonlySet<string | undefined>): void {
    for (const entered of this.#until.values()) {
      for (const name of entered.keys()) if (!states.has(name)) entered.delete(name);
    }
  }

  has({ device, starts }: RequestFacts, state: string, now: number): boolean {
    const entered = this.#until.get(device)?.get(state);
    return entered !== undefined && entered.starts === starts && now < entered.until;
  }
}

function begun(rule: FaultRule, seed: number) {
  const turns = rule.when.turns === undefined ? undefined : rangesOf(rule.when.turns);
  return { rule, seed, turns, matches: 0, hits: 0, lastHit: undefined, isDecided: false };
}

/** Reports whether `when.from` and `when.for` allow the rule to act, and a window of its schedule is open. */
function isInTime({ when, schedule }: FaultRule, elapsed: number): boolean {
  const { from, for: length } = when;
  return (
    isOpen({ from, for: length }, elapsed) && (schedule?.some((window) => isOpen(window, elapsed)) ?? true)
  );
}
