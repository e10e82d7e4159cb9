import type { Random } from '../../../common/random.js';
import type { Ability } from '../../../device/faults/kind.js';
import type { Clock } from '../../../modbus/transport/clock.js';
import type { CheckAbout } from '../../report/report.js';
import { conditionsOf, type Exchange, type OwnRule, type Poll, wentWell } from '../heard/exchange.js';
import { type ExchangeLog, Waits } from '../heard/log.js';
import type { WatchedClient } from '../watched-client.js';
import { askedInVain } from './observation.js';
import type { Judged } from './verdict.js';

type Group = 'watching' | 'time' | 'damaged' | 'exceptions' | 'connections' | 'real-world';

/** The strings that describe a check. */
export interface CheckText extends Omit<CheckAbout, 'group' | 'rule'> {
  readonly id: string;
  readonly title: string;
}

/** Where a check can run, and when its turn comes. */
export interface CheckPlace {
  /** The transports that the check is for; absent: any. */
  readonly transports?: readonly ('serial' | 'tcp' | 'tls' | 'udp')[];
  /** What the check's faults require of the line; see `device/faults/kind.ts`. */
  readonly abilities?: readonly Ability[];
  /** Checks that must run before this one, because it uses their findings. */
  readonly needs?: readonly string[];
  /** Checks that come before this one if they run too: their findings save this one some trials. */
  readonly after?: readonly string[];
  /** True for a check that is left out if there is no observer, unless it is the only one. */
  readonly needsObserver?: boolean;
  /** True for a check that comes before all others, because they take long if it fails. */
  readonly isFirst?: boolean;
  /** Duration of the disturbance, in ms; absent: 0. Checks with the longest ones come last. */
  readonly lastsMs?: number;
}

/** A check of the client's behaviour: a row of a table in `checks/`. */
export interface Check extends CheckText, CheckPlace, CheckAbout {
  readonly group: Group;
  /** What the client gets, as part of a sentence: `a reply with a wrong CRC`. */
  readonly what: string;
  /** What a client that passes does, as part of a sentence. */
  readonly expected: string;
  /** True if what does not come decides, or many frames together, so that no single frame does. */
  readonly isDecidedByMany?: true;
  /**
   * `watches`: the check disturbs nothing, and runs alongside all others. `one poll`: it disturbs only its
   * poll, and runs alongside others of this kind. Absent: it runs alone.
   */
  readonly beside?: 'watches' | 'one poll';
  readonly run: (exam: Exam) => Promise<Judged>;
  /** The provisional verdict before the check ends; absent if nothing is known before the end. */
  readonly soFar?: (exam: Exam) => Judged;
}

/** Faults that lose the reply on the way, although the device executed the request. */
export const LOST: readonly object[] = [{ truncate: 0 }];

/** Faults that are in force for some time. */
export interface Disturbance {
  /** The faults, like `do` in a fault rule: `[{ crc: 'invert' }]`. */
  readonly faults: readonly object[];
  /** Maximum number of requests affected; absent: all. */
  readonly count?: number;
  /**
   * Which requests are affected: the requests of the disturbed poll (the default), of its unit, or all that
   * the line answers.
   */
  readonly scope?: 'poll' | 'unit' | 'line';
  /** True if it helps the client, so that the check is not blamed for it. */
  readonly isHelp?: boolean;
}

/** A disturbance that is in progress. */
export interface Disturbed {
  readonly at: number;
  /** Everything with a higher sequence number came after the disturbance began. */
  readonly since: number;
  readonly spoilt: readonly Exchange[];
}

interface Own {
  readonly name: string;
  /** Random numbers; the same seed gives the same numbers. */
  readonly random: Random;
  readonly target: Poll;
  /** True if another check disturbs another poll at the same time. */
  readonly isBeside?: boolean;
}

/** This many usual polls show that the client has recovered. */
const POLLS_AS_USUAL = 2;
/** The default time for a client to recover, in ms and in poll periods, whichever is longer. */
const RECOVERY_MS = 30_000;
const RECOVERY_PERIODS = 20;
/** A client also gets this many times its wait for a reply. */
const RECOVERY_WAITS = 2;
/**
 * How long to wait for the requests whose replies are suppressed: this many ms plus this many poll periods.
 * With a poll period longer than `SLOWEST_MS` it would take too long. A client with a longer wait for a reply
 * makes every trial long.
 */
const QUIET_MS = 30_000;
const QUIET_PERIODS = 5;
export const SLOWEST_MS = 10_000;
/** An interval is usual up to this many times the longest one seen, or up to this many ms more. */
const LONGER = 1.5;
const LATER_MS = 50;
/** A machine that is late by chance is on time for at least one of this many polls. */
const IN_TIME_POLLS = 10;

/**
 * The tools of a check. Its functions resolve when something has happened on the line. If the client test is
 * stopped, they never resolve, so a check needs no code for that case; the client test removes the faults.
 */
export class Exam {
  readonly client: WatchedClient;
  readonly clock: Clock;
  readonly log: ExchangeLog;
  readonly target: Poll;
  readonly random: Random;
  readonly isBeside: boolean;
  /** Everything with a higher sequence number came after the check began. */
  readonly since: number;
  /** What a trial has shown against the client, in case the check does not finish. */
  suspicion: string | undefined;
  /**
   * True if the client took longer than usual between polls before the check, while timers on this machine
   * fired late: either that is the cause, or the client had not recovered from the previous check.
   */
  wasSlow = false;
  readonly #name: string;
  readonly #waits: Waits;
  #hasMisbehaved = false;
  /** The rules that this check has put in force. */
  readonly #put = new Set<OwnRule>();
  /** When the current disturbance began; undefined if there is none. */
  disturbedSince: number | undefined;
  #mark: OwnRule | undefined;
  /** The values in good replies to the target, and since which event; undefined if they are the device's own. */
  marked: { readonly words: readonly number[]; readonly since: number } | undefined;
  #undo = () => {};

  constructor(client: WatchedClient, { name, random, target, isBeside = false }: Own) {
    this.client = client;
    this.clock = client.clock;
    this.log = client.log;
    this.target = target;
    this.random = random;
    this.isBeside = isBeside;
    this.since = client.log.last;
    this.#name = name;
    this.#waits = new Waits(client.clock, client.log);
  }

  /** The usual time from one request of the disturbed poll to the next, in ms. */
  get periodMs(): number {
    return this.target.periodMs ?? 0;
  }

  /** True if the client has met a fault of this check. */
  get hasDisturbed(): boolean {
    return this.#hasMisbehaved || this.lastMet !== undefined;
  }

  /** The last exchange altered by a fault of this check. */
  get lastMet(): Exchange | undefined {
    return this.log.spoilt.findLast(({ rule }) => rule !== undefined && this.#put.has(rule));
  }

  /** Ends all waits of the check, and undoes what `change` began. */
  end(): void {
    this.#waits.end();
    this.#undo();
  }

  async watch(ms: number): Promise<void> {
    await this.until(() => undefined, ms);
  }

  /** Waits like `Waits.until`. */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return this.#waits.until(find, limitMs);
  }

  /**
   * Puts a fault rule in force, waits until something is found, and removes the rule.
   * @param find called as by `until`
   */
  async disturb<Result>(
    { faults, count, scope = 'poll', isHelp = false }: Disturbance,
    find: (disturbed: Disturbed) => Result | undefined,
    limitMs: number,
  ): Promise<Disturbed & { readonly result: Result | undefined }> {
    const { client, log } = this;
    this.#disturbs();
    const when = {
      line: this.client.line.name,
      ...this.#conditions(scope),
      ...(count !== undefined && { count }),
    };
    const rule = client.rules.put(this.#name, { when, do: faults, seed: this.random.below(2 ** 31) });
    if (!isHelp) this.#put.add(rule);
    const since = log.last;
    const disturbed: Disturbed = {
      at: this.clock.now(),
      since,
      get spoilt() {
        return log.after(since).filter((each) => each.rule === rule);
      },
    };
    const result = await this.until(() => find(disturbed), limitMs);
    client.rules.remove(rule);
    this.disturbedSince = undefined;
    client.disturbed(disturbed.spoilt.at(-1)?.seq ?? since);
    return { ...disturbed, result };
  }

  /** Loses all replies to the target until something is found. @param find called as by `until` */
  lose<Result>(find: () => Result | undefined, limitMs: number): Promise<Disturbed> {
    return this.disturb({ faults: LOST }, find, limitMs);
  }

  /** Gives good replies to the target these values from now on; absent: the device's own. */
  mark(words?: readonly number[]): void {
    const { rules } = this.client;
    if (this.#mark) rules.remove(this.#mark);
    const when = { line: this.client.line.name, ...conditionsOf(this.target) };
    this.#mark = words && rules.put('mark', { when, do: [{ values: words }], seed: 0, isSpoiling: false });
    this.marked = words && { words, since: this.log.last };
  }

  /**
   * Closes the line and all its connections for some time, and reopens it. If that fails, the client test
   * ends.
   * @returns when the line was open again, in ms
   */
  async outage(ms: number): Promise<number> {
    const { client } = this;
    this.#hasMisbehaved = true;
    this.#disturbs();
    await client.outage.begin();
    await this.watch(ms);
    this.disturbedSince = undefined;
    const problem = await client.outage.end();
    client.disturbed();
    return problem === undefined ? this.clock.now() : new Promise(() => {});
  }

  /**
   * Changes the behaviour of the line's devices until something is found.
   * @param begin changes the devices, and returns a function that undoes this; called at the end of the check
   * at
   *   the latest
   * @param find called as by `until`
   */
  async change(begin: () => () => void, find: () => true | undefined, limitMs: number): Promise<void> {
    const { client } = this;
    this.#hasMisbehaved = true;
    client.disturb();
    this.#undo = begin();
    await this.until(find, limitMs);
    this.#undo();
    client.disturbed();
  }

  /**
   * Leaves some requests without a reply. A client that has kept bytes, or a whole reply, takes them for the
   * reply to its next request and stays behind for ever, unless that request gets no reply of its own.
   */
  async suppressReplies(requests: number): Promise<void> {
    if (this.periodMs > SLOWEST_MS) return;
    await this.disturb(
      { faults: LOST, count: requests, scope: 'line' },
      ({ spoilt }) => spoilt.length >= requests || undefined,
      QUIET_MS + QUIET_PERIODS * this.periodMs,
    );
  }

  /** The exchanges of the disturbed poll after this sequence number. */
  askedAfter(seq: number): readonly Exchange[] {
    return this.log.after(seq).filter(({ poll }) => poll === this.target.key);
  }

  /**
   * Waits until the client polls as it did before any disturbance: the disturbed poll in its usual rhythm
   * with good replies, and each of the other regular polls at least once.
   * @param polls how many usual polls are enough
   * @param withinMs how long the client may take, in ms, unless twenty poll periods are longer
   * @returns false if the client takes longer
   */
  async recover(polls = POLLS_AS_USUAL, withinMs = RECOVERY_MS): Promise<boolean> {
    const { client } = this;
    const { waitMs = 0 } = client.facts;
    const limit = Math.max(withinMs, RECOVERY_PERIODS * this.periodMs) + RECOVERY_WAITS * waitMs;
    const { last } = this.log;
    const polled = () =>
      this.#pollsAsUsual(client.isWithoutRhythm ? last : client.disturbedUntil, polls) || undefined;
    const recovered = await this.until(polled, limit);
    if (!recovered) client.isLost = askedInVain(this, this.askedAfter(client.disturbedUntil)).length > 0;
    else if (polls >= POLLS_AS_USUAL) client.recovered();
    return recovered === true;
  }

  /**
   * Waits for the next poll after one that came as usual.
   * @returns false if it does not come in time, or comes because the client did not accept the reply to that
   * one
   */
  async comesAgain(): Promise<boolean> {
    const last = this.askedAfter(0).at(-1);
    if (!last) return false;
    const most = this.#longestAfter(last.at) - (this.clock.now() - last.at);
    const next = await this.until(() => this.askedAfter(last.seq)[0], Math.max(0, most));
    const isTaken = askedInVain(this, this.askedAfter(this.client.disturbedUntil)).length === 0;
    if (!next || !isTaken) return false;
    this.log.usualUntil = Math.max(this.log.usualUntil, last.seq);
    return true;
  }

  /** Waits, for a limited number of polls, until two of them come as usual while the machine is on time. */
  async pollsInTime(): Promise<boolean> {
    const { client } = this;
    const asked = () => this.askedAfter(client.disturbedUntil).slice(-2);
    if (client.isWithoutRhythm || asked().length < 2) return true;
    const isInTime = () => {
      const [first, second] = asked() as [Exchange, Exchange];
      return second.at - first.at <= this.#longest || undefined;
    };
    return (await this.until(isInTime, IN_TIME_POLLS * this.periodMs)) === true;
  }

  get #longest(): number {
    const longest = Math.max(...this.target.intervals);
    return Math.max(longest * LONGER, longest + LATER_MS);
  }

  /** The longest usual time between two polls, in ms, allowing for late timers on this machine since then. */
  #longestAfter(at: number): number {
    return this.#longest + this.client.lateness.between(at);
  }

  /**
   * True if the newest polls came as usual.
   * @param since only polls after this sequence number count
   */
  #pollsAsUsual(since: number, polls: number): boolean {
    const asked = this.askedAfter(since).slice(-polls);
    if (asked.length < polls || !asked.every(wentWell) || askedInVain(this, asked).length > 0) return false;
    if (this.client.isWithoutRhythm) return true;
    const most = this.#longestAfter(asked[0]?.at ?? 0);
    const times = [...asked.map(({ at }) => at), this.clock.now()];
    if (times.some((at, i) => i > 0 && at - (times[i - 1] as number) > most)) return false;
    const heard = new Set(this.log.after(since).map(({ poll }) => poll));
    // A regular poll is at least half as frequent as the disturbed one.
    const regular = this.client.polls.filter((each) => each.asked.length * 2 >= this.target.asked.length);
    return regular.every(({ key }) => heard.has(key));
  }

  #disturbs(): void {
    this.disturbedSince = this.clock.now();
    this.client.disturb();
  }

  #conditions(scope: NonNullable<Disturbance['scope']>): object {
    if (scope === 'line') return {};
    return scope === 'unit' ? { unit: this.target.unitId } : conditionsOf(this.target);
  }
}
