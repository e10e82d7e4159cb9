import { ruleSchema } from '../../faults/rule.js';
import type { Random } from '../../random.js';
import type { Clock } from '../../transport/clock.js';
import { conditionsOf } from './conditions.js';
import type { Disturbance, Disturbed, ExaminedLine, ExamParts } from './exam-parts.js';
import type { Exchange } from './exchange.js';
import type { ExchangeLog } from './exchange-log.js';
import type { Found } from './found.js';
import { pollsAsUsual } from './polls-as-usual.js';
import type { Question } from './rhythm.js';
import type { Testimony } from './witness/testimony.js';

/** So many polls as usual show that the client has recovered. */
const POLLS_AS_USUAL = 3;
/** How long the client may take for that, in ms, and in poll periods. */
const RECOVERY_MS = 30_000;
const RECOVERY_PERIODS = 20;

/**
 * What a check works with. Its functions resolve when something has happened on the line. When the examination is
 * stopped meanwhile they never do, so a check needs no way out; the examination takes the faults away.
 */
export class Exam {
  readonly clock: Clock;
  readonly line: ExaminedLine;
  readonly log: ExchangeLog;
  readonly found: Found;
  readonly questions: readonly Question[];
  readonly target: Question;
  /** What shows the values that the client has read; undefined where nothing does. See `believed.ts`. */
  readonly testimony: Testimony | undefined;
  /** Of this check alone. The same seed gives the same numbers. */
  readonly random: Random;
  /** Everything with a higher sequence number came after the check began. */
  readonly since: number;
  readonly #parts: ExamParts;
  readonly #name: string;
  readonly #waits = new Set<() => void>();
  #disturbances = 0;
  #isOver = false;

  /** @param name of the check */
  constructor(parts: ExamParts, name: string, random: Random) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.line = parts.line;
    this.log = parts.log;
    this.found = parts.found;
    this.questions = parts.questions;
    this.target = parts.target;
    this.testimony = parts.testimony;
    this.random = random;
    this.since = parts.log.last;
    this.#name = name;
  }

  /** How often the disturbed question is usually asked, in ms. */
  get periodMs(): number {
    return this.target.periodMs ?? 0;
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
      const unsubscribe = this.#parts.onEvent(() => {
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
    const { rules, log } = this.#parts;
    const name = `examine-${this.#name}-${++this.#disturbances}`;
    const when = { line: this.line.name, ...this.#conditions(scope), ...(count !== undefined && { count }) };
    const seed = this.random.below(2 ** 31);
    rules.set(ruleSchema.parse({ name, when, do: faults, seed }), { temporary: true });
    const since = log.last;
    const disturbed: Disturbed = {
      at: this.clock.now(),
      since,
      get spoilt() {
        return log.after(since).filter(({ isSpoilt }) => isSpoilt);
      },
      get notAchieved() {
        const acted = this.spoilt.flatMap(
          ({ reply }) => reply?.acted.filter(({ rule }) => rule === name) ?? [],
        );
        return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
      },
    };
    const result = await this.until(() => find(disturbed), limitMs);
    rules.remove(name);
    log.rulesRemoved();
    const { at, spoilt, notAchieved } = disturbed;
    return { at, since, spoilt, notAchieved, result };
  }

  /**
   * Closes the line with all its connections for some time, and opens it again. Where that fails, the examination ends.
   * @returns when it was open again, in ms
   */
  async outage(ms: number): Promise<number> {
    const { outage } = this.#parts;
    await outage.begin();
    await this.watch(ms);
    const problem = await outage.end();
    return problem === undefined ? this.clock.now() : forever();
  }

  /** The exchanges of the disturbed question after this sequence number. */
  askedAfter(seq: number): readonly Exchange[] {
    return this.log.after(seq).filter(({ question }) => question === this.target.key);
  }

  /**
   * Waits until the client polls as it did before: the disturbed question in its usual rhythm with good replies, and
   * each of the other regular questions at least once.
   * @param polls how many polls as usual are enough
   * @returns false when it does not within half a minute, or within twenty poll periods if these are longer
   */
  async recover(polls = POLLS_AS_USUAL): Promise<boolean> {
    const since = this.log.last;
    const limit = Math.max(RECOVERY_MS, RECOVERY_PERIODS * this.periodMs);
    const recovered = await this.until(() => pollsAsUsual(this, since, polls) || undefined, limit);
    return recovered === true;
  }

  #conditions(scope: NonNullable<Disturbance['scope']>): object {
    if (scope === 'line') return {};
    return scope === 'unit' ? { unit: this.target.unitId } : conditionsOf(this.target);
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
