import type { Clock } from '../../../transport/clock.js';
import { type Exchange, type OwnRule, wentWell } from '../heard/exchange.js';
import { conditionsOf, type Question } from '../heard/question.js';
import type { Observer } from '../observer/observer.js';
import { MARKS, marksFor, STEPS } from './marks.js';
import type { OwnRules } from './own-rules.js';

/** What is needed of the `Exam` of a check. */
interface Watching {
  readonly clock: Clock;
  readonly periodMs: number;
  readonly log: { readonly last: number };
  askedAfter(seq: number): readonly Exchange[];
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined>;
  watch(ms: number): Promise<void>;
}

/** How long an observer may take to show what the client has read, in ms, and in poll periods. */
const PATIENCE_MS = 5_000;
const PATIENCE_PERIODS = 3;
/** Once its delay is known, this many times as long is enough, and at least so many ms. */
const DELAYS = 2;
const SHORTEST_MS = 500;
/** A poll with a new value is waited for so long, in ms and in poll periods. */
const POLL_MS = 30_000;
const POLL_PERIODS = 20;

/** What an observer showed while the replies carried a known value. */
export interface Seen {
  /**
   * `kept`: nothing but the value of before, or none. `sent`: the value of the replies. `other`: a value that the
   * replies did not carry.
   */
  readonly kind: 'kept' | 'sent' | 'other';
  /** The value that it showed. */
  readonly text: string;
}

/**
 * Knows which value the client has taken: replies carry values of our own, and an observer shows what was read. What it
 * shows for each of them is learned first, because the client may scale, round or name what it reads.
 */
export class ValueOracle {
  readonly #observer: Observer;
  readonly #rules: OwnRules;
  readonly #line: string;
  readonly #target: Question;
  #rule: OwnRule | undefined;
  #marks: readonly number[][] = [];
  /** What the observer shows for each mark. */
  #texts: readonly string[] = [];
  #delayMs = 0;
  #next = 0;
  #isLearned = false;
  #isFollowing = true;
  #unusable: string | undefined;

  /** @param line name of the line */
  constructor(
    observer: Observer,
    { rules, line, target }: { rules: OwnRules; line: string; target: Question },
  ) {
    this.#observer = observer;
    this.#rules = rules;
    this.#line = line;
    this.#target = target;
  }

  /** Learns how the observer shows values, once. @returns why it can't be used, as a sentence */
  async ready(exam: Watching): Promise<string | undefined> {
    if (!this.#isLearned) {
      this.#unusable = await this.#learn(exam);
      this.#isLearned = true;
      this.rest();
    }
    return this.#unusable;
  }

  /** Three marks that differ, the first of which is the last one of before. */
  threeMarks(): readonly [number, number, number] {
    const first = this.#next;
    this.#next = (first + 2) % MARKS;
    return [first, (first + 1) % MARKS, this.#next];
  }

  /** What the observer shows for a mark. */
  textOf(mark: number): string {
    return this.#texts[mark] ?? '';
  }

  /** The fault that puts a mark into a reply. */
  faultFor(mark: number): object {
    return { values: this.#marks[mark] };
  }

  /** From now on, each reply to the target carries this mark. */
  mark(mark: number): void {
    this.#put(this.#marks[mark] as number[]);
  }

  /** From now on, replies carry their true values. */
  rest(): void {
    if (this.#rule) this.#rules.remove(this.#rule);
    this.#rule = undefined;
  }

  /** Gives good replies a mark. @returns false when the observer does not show it */
  async settles(exam: Watching, mark: number): Promise<boolean> {
    const wanted = this.textOf(mark);
    const shown = await this.#follow(exam, this.#marks[mark] as number[], (text) => text === wanted);
    return shown !== undefined;
  }

  /**
   * Gives good replies two values, one after the other: an observer that stands still may show one of them.
   * @returns whether it shows both, as `isFollowing` does
   */
  async follows(exam: Watching): Promise<boolean> {
    const [, first, second] = this.threeMarks();
    this.#isFollowing = (await this.settles(exam, first)) && (await this.settles(exam, second));
    return this.#isFollowing;
  }

  /** The observer followed when it was last looked at with good replies. Without that, a fault can't be blamed. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** How long the observer needs to show what was read, in ms, with a margin. */
  get patienceMs(): number {
    return SHORTEST_MS + DELAYS * this.#delayMs + 4 * this.#observer.paceMs;
  }

  /** Watches the observer until it shows something else than before, for `limitMs` at most. */
  async watch(
    exam: Watching,
    marks: { readonly before: number; readonly sent: number },
    limitMs: number,
  ): Promise<Seen> {
    const end = exam.clock.now() + limitMs;
    const before = this.textOf(marks.before);
    while (exam.clock.now() < end) {
      const shown = await this.#observer.read();
      if (shown.ok && shown.text !== before && this.#isValue(shown.text)) {
        return { kind: shown.text === this.textOf(marks.sent) ? 'sent' : 'other', text: shown.text };
      }
      await exam.watch(this.#observer.paceMs);
    }
    return { kind: 'kept', text: before };
  }

  async #learn(exam: Watching): Promise<string | undefined> {
    for (const step of STEPS) {
      const marks = marksFor(this.#target, step);
      if (typeof marks === 'string') return marks;
      const texts = await this.#textsFor(exam, marks);
      if (texts) {
        [this.#marks, this.#texts] = [marks, texts];
        return undefined;
      }
    }
    const now = await this.#observer.read();
    const shows = now.ok ? `shows ${JSON.stringify(now.text.slice(0, 40))}` : now.error;
    return `the observer does not follow the values of the replies (${this.#observer.name} ${shows})`;
  }

  /** What the observer shows for each mark; undefined when it does not show a new text for each. */
  async #textsFor(exam: Watching, marks: readonly (readonly number[])[]): Promise<string[] | undefined> {
    // What the observer showed of earlier replies is over when the last mark has been sent for a while.
    const last = marks.at(-1) ?? [];
    if (!(await this.#polledWith(exam, last))) return undefined;
    await exam.watch(PATIENCE_MS);
    const before = await this.#observer.read();
    const texts: string[] = [];
    for (const words of marks) {
      const isOld = (text: string) => words !== last && before.ok && text === before.text;
      const text = await this.#follow(exam, words, (shown) => !texts.includes(shown) && !isOld(shown));
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts;
  }

  /** Gives the replies a value. @returns false when the client does not read it */
  async #polledWith(exam: Watching, words: readonly number[]): Promise<boolean> {
    const since = exam.log.last;
    this.#put(words);
    const polled = () => exam.askedAfter(since).some(wentWell) || undefined;
    const limit = Math.max(POLL_MS, POLL_PERIODS * exam.periodMs);
    return (await exam.until(polled, limit)) === true;
  }

  /** Gives the replies a value and waits until the observer has shown the same accepted text twice. */
  async #follow(
    exam: Watching,
    words: readonly number[],
    accepts: (text: string) => boolean,
  ): Promise<string | undefined> {
    if (!(await this.#polledWith(exam, words))) return undefined;
    const begin = exam.clock.now();
    const limit = PATIENCE_MS + DELAYS * this.#delayMs + PATIENCE_PERIODS * exam.periodMs;
    let last: string | undefined;
    while (exam.clock.now() - begin < limit) {
      const shown = await this.#observer.read();
      const text = shown.ok && accepts(shown.text) ? shown.text : undefined;
      if (text !== undefined && text === last) {
        this.#delayMs = Math.max(this.#delayMs, exam.clock.now() - begin);
        return text;
      }
      last = text;
      await exam.watch(this.#observer.paceMs);
    }
    return undefined;
  }

  /** Where the client shows numbers, `null`, `bad` and the like say that it has no value. */
  #isValue(text: string): boolean {
    return isNumber(text) || !this.#texts.every(isNumber);
  }

  #put(words: readonly number[]): void {
    this.rest();
    const when = { line: this.#line, ...conditionsOf(this.#target) };
    this.#rule = this.#rules.put('mark', { when, faults: [{ values: words }], seed: 0, isSpoiling: false });
  }
}

function isNumber(text: string): boolean {
  return text !== '' && Number.isFinite(Number(text));
}
