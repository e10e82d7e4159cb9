import type { Misbehaviour } from '../../../config/catalogue.js';
import type { Random } from '../../../random.js';
import type { Clock } from '../../../transport/clock.js';
import { type Exchange, type OwnRule, wentWell } from '../heard/exchange.js';
import type { ExchangeLog } from '../heard/exchange-log.js';
import type { Found } from '../heard/found.js';
import { conditionsOf, type Question } from '../heard/question.js';
import type { EntryPlayer } from './entry-player.js';
import type { ExaminedLine } from './examined-line.js';
import type { Outage } from './outage.js';
import type { OwnRules } from './own-rules.js';
import type { ValueOracle } from './value-oracle.js';

/** Faults that are put in for a while. */
export interface Disturbance {
  /** As `do` of a fault rule: `[{ crc: 'invert' }]`. */
  readonly faults: readonly object[];
  /** So many requests are spoilt at most; all of them when absent. */
  readonly count?: number;
  /** Which requests: the disturbed question alone (when absent), its unit, or all that the line answers. */
  readonly scope?: 'question' | 'unit' | 'line';
}

/** A disturbance as it goes on. */
export interface Disturbed {
  /** When it began. */
  readonly at: number;
  /** Everything with a higher sequence number came after it began. */
  readonly since: number;
  /** The requests that the faults acted on so far. */
  readonly spoilt: readonly Exchange[];
  /** Why the faults could not act; undefined when they could, or nothing is known. */
  readonly notAchieved: string | undefined;
}

/** A time in which nothing on the line was answered. */
export interface Silence extends Pick<Disturbed, 'at' | 'spoilt'> {
  readonly endedAt: number;
  /** Everything with a higher sequence number came after it. */
  readonly last: number;
}

/** What is known of the client, and grows while it is examined. */
export interface Known {
  /** The longest one that the client sat through on its old connections. */
  silence: Silence | undefined;
  /** Up to this event it polled as usual, apart from what the faults did. */
  until: number;
  /** It waits for a reply at most so long before it goes on, in ms; undefined as long as that was not tried. */
  waitMs: number | undefined;
  /** It was waited for in vain to poll in the rhythm that it had, so its rhythm is no longer looked at. */
  isWithoutRhythm: boolean;
  /** Something was disturbed since it was last seen to poll as usual: up to this event. */
  isDisturbed: boolean;
  disturbedUntil: number;
  /** How it asks a question that gets no reply: the askings, what came after them, and the times between them in ms. */
  run:
    | {
        readonly asked: readonly Exchange[];
        readonly after: Exchange | undefined;
        readonly intervals: readonly number[];
      }
    | undefined;
}

/** Everything that checks have in common. */
export interface ExamParts {
  readonly clock: Clock;
  readonly line: ExaminedLine;
  readonly log: ExchangeLog;
  readonly found: Found;
  readonly known: Known;
  /** Another check disturbs another question at the same time. */
  readonly isBeside: boolean;
  readonly rules: OwnRules;
  readonly outage: Outage;
  readonly player: EntryPlayer;
  /** All questions that the client asks, as watching has shown them. */
  readonly questions: readonly Question[];
  /** The one that is disturbed. */
  readonly target: Question;
  /** Shows the values that the client has read; undefined where nothing does. */
  readonly values: ValueOracle | undefined;
  /** Calls back after each event of the line; returns a function that ends it. */
  readonly onEvent: (listener: () => void) => () => void;
  /** Says what is waited for, to whoever follows the examination. */
  readonly note: (text: string) => void;
}

/** So many polls as usual show that the client has recovered. */
const POLLS_AS_USUAL = 3;
/** How long the client may take for that, in ms, and in poll periods. */
const RECOVERY_MS = 30_000;
const RECOVERY_PERIODS = 20;
/** An interval is as usual up to this many times the longest one that was seen, or so many ms more. */
const LONGER = 1.5;
const LATER_MS = 50;

/**
 * What a check works with. Its functions resolve when something has happened on the line. When the examination is
 * stopped meanwhile they never do, so a check needs no way out; the examination takes the faults away.
 */
export class Exam {
  readonly parts: ExamParts;
  readonly clock: Clock;
  readonly line: ExaminedLine;
  readonly log: ExchangeLog;
  readonly found: Found;
  readonly questions: readonly Question[];
  readonly target: Question;
  readonly values: ValueOracle | undefined;
  /** Of this check alone. The same seed gives the same numbers. */
  readonly random: Random;
  /** Everything with a higher sequence number came after the check began. */
  readonly since: number;
  /** What a trial has shown that speaks against the client, for a check that does not come to its end. */
  suspicion: string | undefined;
  readonly #name: string;
  readonly #waits = new Set<() => void>();
  #hasMisbehaved = false;
  #isOver = false;

  /** @param name of the check */
  constructor(parts: ExamParts, name: string, random: Random) {
    this.parts = parts;
    this.clock = parts.clock;
    this.line = parts.line;
    this.log = parts.log;
    this.found = parts.found;
    this.questions = parts.questions;
    this.target = parts.target;
    this.values = parts.values;
    this.random = random;
    this.since = parts.log.last;
    this.#name = name;
  }

  /** How often the disturbed question is usually asked, in ms. */
  get periodMs(): number {
    return this.target.periodMs ?? 0;
  }

  /** The client has met a fault of this check. */
  get hasDisturbed(): boolean {
    return this.#hasMisbehaved || (this.log.spoilt.at(-1)?.seq ?? 0) > this.since;
  }

  /** Ends all waiting. */
  end(): void {
    this.#isOver = true;
    for (const stop of this.#waits) stop();
    this.#waits.clear();
  }

  /** Watches for some time. */
  async watch(ms: number): Promise<void> {
    await this.until(() => undefined, ms);
  }

  /**
   * Waits until something is found. `find` is called now and after each event of the line, when the line has planned
   * its answer.
   * @returns undefined when it was not found within `limitMs`
   */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      const now = find();
      if (now !== undefined) return resolve(now);
      let isAsked = false;
      const stop = () => {
        callOff();
        unsubscribe();
        this.#waits.delete(stop);
      };
      const look = () => {
        isAsked = false;
        if (!this.#waits.has(stop)) return;
        const result = find();
        if (result === undefined) return;
        stop();
        resolve(result);
      };
      const unsubscribe = this.parts.onEvent(() => {
        if (isAsked) return;
        isAsked = true;
        queueMicrotask(look);
      });
      const callOff = this.clock.callAfter(limitMs, () => {
        stop();
        resolve(find());
      });
      this.#waits.add(stop);
    });
  }

  /**
   * Puts in a fault rule, waits until something is found, and takes the rule away.
   * @param find called as by `until`
   */
  async disturb<Result>(
    { faults, count, scope = 'question' }: Disturbance,
    find: (disturbed: Disturbed) => Result | undefined,
    limitMs: number,
  ): Promise<Disturbed & { readonly result: Result | undefined }> {
    const { rules, log, known } = this.parts;
    known.isDisturbed = true;
    const when = { line: this.line.name, ...this.#conditions(scope), ...(count !== undefined && { count }) };
    const rule = rules.put(this.#name, { when, faults, seed: this.random.below(2 ** 31) });
    const since = log.last;
    const disturbed: Disturbed = {
      at: this.clock.now(),
      since,
      get spoilt() {
        return log.after(since).filter((each) => each.rule === rule);
      },
      get notAchieved() {
        const acted = this.spoilt.flatMap(
          ({ reply }) => reply?.acted.filter((each) => each.rule === rule.name) ?? [],
        );
        return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
      },
    };
    const result = await this.until(() => find(disturbed), limitMs);
    rules.remove(rule);
    known.disturbedUntil = disturbed.spoilt.at(-1)?.seq ?? since;
    const { at, spoilt, notAchieved } = disturbed;
    return { at, since, spoilt, notAchieved, result };
  }

  /**
   * Closes the line with all its connections for some time, and opens it again. Where that fails, the examination ends.
   * @returns when it was open again, in ms
   */
  async outage(ms: number): Promise<number> {
    const { outage, known } = this.parts;
    this.#hasMisbehaved = true;
    known.isDisturbed = true;
    await outage.begin();
    await this.watch(ms);
    const problem = await outage.end();
    known.disturbedUntil = this.log.last;
    return problem === undefined ? this.clock.now() : new Promise(() => {});
  }

  /**
   * Lets the devices of the line misbehave as an entry of the catalogue says, until something is found.
   * @param find called as by `until`, with the rules of the entry
   */
  async misbehave(
    entry: Misbehaviour,
    find: (rules: readonly OwnRule[]) => true | undefined,
    limitMs: number,
  ): Promise<readonly OwnRule[]> {
    const { player, known } = this.parts;
    this.#hasMisbehaved = true;
    known.isDisturbed = true;
    const rules = player.begin(entry, this.#name, this.random);
    await this.until(() => find(rules), limitMs);
    player.end();
    known.disturbedUntil = this.log.last;
    return rules;
  }

  /** The exchanges of the disturbed question after this sequence number. */
  askedAfter(seq: number): readonly Exchange[] {
    return this.log.after(seq).filter(({ question }) => question === this.target.key);
  }

  /**
   * Waits until the client polls as it did before anything was disturbed: the disturbed question in its usual rhythm with good replies, and
   * each of the other regular questions at least once.
   * @param polls how many polls as usual are enough
   * @returns false when it does not within half a minute, or within twenty poll periods if these are longer
   */
  async recover(polls = POLLS_AS_USUAL): Promise<boolean> {
    const { known } = this.parts;
    const limit = Math.max(RECOVERY_MS, RECOVERY_PERIODS * this.periodMs);
    const { last } = this.log;
    const polled = () =>
      this.#pollsAsUsual(known.isWithoutRhythm ? last : known.disturbedUntil, polls) || undefined;
    const recovered = await this.until(polled, limit);
    if (recovered && polls >= POLLS_AS_USUAL) [known.until, known.isDisturbed] = [this.log.last, false];
    return recovered === true;
  }

  /** @param since only what came after this event */
  #pollsAsUsual(since: number, polls: number): boolean {
    const asked = this.askedAfter(since).slice(-polls);
    if (asked.length < polls || !asked.every(wentWell)) return false;
    if (this.parts.known.isWithoutRhythm) return true;
    const longest = Math.max(...this.target.intervals);
    const most = Math.max(longest * LONGER, longest + LATER_MS);
    const times = [...asked.map(({ at }) => at), this.clock.now()];
    if (times.some((at, i) => i > 0 && at - (times[i - 1] as number) > most)) return false;
    const heard = new Set(this.log.after(since).map(({ question }) => question));
    // Questions that are asked about as often as the disturbed one.
    const regular = this.questions.filter((each) => each.asked.length * 2 >= this.target.asked.length);
    return regular.every(({ key }) => heard.has(key));
  }

  #conditions(scope: NonNullable<Disturbance['scope']>): object {
    if (scope === 'line') return {};
    return scope === 'unit' ? { unit: this.target.unitId } : conditionsOf(this.target);
  }
}
