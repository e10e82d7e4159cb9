import { failure, type Result, success } from '../../../common/result.js';
import { wordAt } from '../../../modbus/protocol/bytes.js';
import { dataOffset } from '../../../modbus/protocol/pdu.js';
import type { Clock } from '../../../modbus/transport/clock.js';
import type { Measurements } from '../../report/report.js';
import { pduOf } from '../../tested-line.js';
import { type Exchange, isReading, type Poll, readingOf, wentWell } from '../heard/exchange.js';
import type { Observer } from '../observer.js';
import { DECIDES, type Evidence, type Trial } from './verdict.js';

/** The part of a check's `Exam` that is needed here. */
interface Watching {
  readonly clock: Clock;
  readonly periodMs: number;
  readonly target: Poll;
  readonly client: {
    readonly facts: Measurements & { readonly waitMs?: number };
    learn(facts: { readonly shownForNothing: string }): void;
  };
  readonly log: { readonly last: number };
  askedAfter(seq: number): readonly Exchange[];
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined>;
  readonly marked: { readonly words: readonly number[]; readonly since: number } | undefined;
  mark(words?: readonly number[]): void;
  disturb<Result>(
    disturbance: { readonly faults: readonly object[] },
    find: () => Result | undefined,
    limitMs: number,
  ): Promise<{ readonly spoilt: readonly Exchange[] }>;
  lose<Result>(find: () => Result | undefined, limitMs: number): Promise<unknown>;
  recover(): Promise<boolean>;
}

/** What an observer showed while the replies carried a known value. */
export interface SeenByObserver {
  /**
   * `kept`: the observer showed only the earlier value, or none. `sent`: it showed the value in the replies.
   * `other`: it showed a value that the replies did not carry.
   */
  readonly kind: 'kept' | 'sent' | 'other';
  readonly text: string;
}

/**
 * What it says about a client that its observer keeps its value, shows the value of the altered reply, or
 * shows another one.
 */
export type ValueMeaning = Readonly<Record<SeenByObserver['kind'], Trial['shows']>>;

/** A trial that alters the replies to a poll for some time, and what it means if the client accepts their values. */
export interface ValueTrial {
  /** The faults that alter the replies, or a function that makes them for the mark in the replies. */
  readonly faults: readonly object[] | ((mark: object) => readonly object[]);
  readonly meaning: ValueMeaning;
  readonly what: string;
  /** What is wrong with a client that accepts the value, for the first page. */
  readonly blame: string;
  /** True if any client would accept the altered reply to this request, so that it shows nothing. */
  readonly isVoid?: (spoilt: Exchange) => boolean;
}

/** The result of a trial that looks at values. */
type ValuesSeen = Trial & Partial<Pick<SeenByObserver, 'kind'>>;

/** An observer that is watched while replies are altered. */
interface WatchedValues {
  /** The words in the altered replies. */
  readonly words: readonly number[];
  /** Longest time to watch, in ms. */
  readonly limitMs: number;
  /** What the observer has shown; undefined if it is not yet known. */
  readonly seen: () => SeenByObserver | undefined;
  /** Waits until the client has recovered. @returns what the observer showed until then */
  readonly end: (spoilt: readonly Exchange[], wanted: ValueTrial) => Promise<ValuesSeen>;
}

/** A string shown by an observer, and the words of the reply that it represents. */
export interface LearntText {
  readonly shown: string;
  readonly words: readonly number[];
}

/** The number of different marks. */
const MARKS = 4;
/** The number of bits needed to count to `MARKS`. */
const FEWEST_BITS = 3;
/**
 * Steps between the marks, tried in this order: small steps may be lost if the client rounds. The last marks are not close to
 * the true value, but as a float32 in any word and byte order they are numbers that a display of a few decimals shows.
 */
const STEPS = [1, 16, 256, 'any order'] as const;
/** The words of the last marks are close to this: as the first byte of a float32, each byte makes a number above 2. */
const VISIBLE = 0x4340;
/** How long an observer may take to show what the client has read: this many ms, plus this many poll periods. */
const OBSERVER_PATIENCE_MS = 5_000;
const PATIENCE_PERIODS = 3;
/** How long to watch an observer whose delay is known: this many times the delay, plus this many ms. */
const DELAYS = 2;
const SHORTEST_MS = 500;
/** How long to wait for a poll with a new value, in ms and in poll periods, whichever is longer. */
const POLL_MS = 30_000;
const POLL_PERIODS = 20;
/** The assumed time-out and number of retries until they are known. */
const USUAL_TIMEOUT_MS = 1_000;
export const USUAL_RETRIES = 2;
/** The number of trials on the line that one seen value counts as. */
export const SEEN = 2;

/**
 * Determines which value the client has accepted: replies carry values of our own (marks), and an observer
 * shows what was read. The strings that it shows for the marks are learned first, because the client may
 * scale, round or name what it reads.
 */
export class ValueOracle {
  readonly #observer: Observer;
  #marks: readonly number[][] = [];
  #texts: readonly string[] = [];
  #delayMs = 0;
  #next = 0;
  #isLearned = false;
  #isFollowing = true;
  #unusable: string | undefined;
  /**
   * What is shown when no reply comes; if so, it is no sign of an altered reply. It is determined when an
   * unknown value first appears.
   */
  #placeholder: Promise<string | undefined> | undefined;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  /**
   * Learns how the observer shows values, once.
   * @returns why the observer can't be used, as a sentence; undefined if it can
   */
  async ready(exam: Watching): Promise<string | undefined> {
    if (!this.#isLearned) {
      this.#unusable = await this.#learn(exam);
      this.#isLearned = true;
      exam.mark();
    }
    return this.#unusable;
  }

  /** What the observer shows for each reply with a mark; empty until `ready` has found it usable. */
  get learnt(): readonly LearntText[] {
    return this.#texts.map((shown, i) => ({ shown, words: this.#marks[i] ?? [] }));
  }

  /** The value of a good reply that the observer shows now; undefined when it shows none, or can't be used. */
  async shownByNow(): Promise<string | undefined> {
    const now = this.isUsable ? await this.#observer.read() : undefined;
    return now?.ok && this.#texts.includes(now.text) ? now.text : undefined;
  }

  /** True if `ready` has found that the observer can be used. */
  get isUsable(): boolean {
    return this.#isLearned && this.#unusable === undefined;
  }

  /** Three different marks. The first one is the last one of the previous call. */
  threeMarks(): readonly [number, number, number] {
    const first = this.#next;
    this.#next = (first + 2) % MARKS;
    return [first, (first + 1) % MARKS, this.#next];
  }

  /**
   * Gives good replies a mark.
   * @returns false if the observer does not show it
   */
  async settles(exam: Watching, mark: number): Promise<boolean> {
    const wanted = this.#texts[mark];
    const shown = await this.#follow(exam, this.#marks[mark] as number[], (text) => text === wanted);
    return shown !== undefined;
  }

  /**
   * Gives good replies a value different from the last one, which an observer that hangs does not show. They
   * keep this value.
   * @returns whether the observer shows it; `isFollowing` reports the same from then on
   */
  async follows(exam: Watching): Promise<boolean> {
    this.#next = (this.#next + 1) % MARKS;
    const now = await this.#observer.read();
    // An observer that hangs may show any of the marks for ever.
    if (now.ok && now.text === this.#texts[this.#next]) this.#next = (this.#next + 1) % MARKS;
    this.#isFollowing = await this.settles(exam, this.#next);
    return this.#isFollowing;
  }

  /** True if the observer followed good replies the last time it was read. If it did not, no fault can be blamed. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** How long the observer needs to show a value, in ms, with a margin. */
  get patienceMs(): number {
    return SHORTEST_MS + DELAYS * (this.#delayMs + this.#observer.paceMs);
  }

  /** Watches the observer until its text changes, for at most `limitMs`. */
  async watch(
    exam: Watching,
    marks: { readonly before: number; readonly sent: number },
    limitMs: number,
  ): Promise<SeenByObserver> {
    const before = this.#texts[marks.before] ?? '';
    const seen = await this.#read(exam, limitMs, (text) =>
      text !== before && this.#isValue(text) ? text : undefined,
    );
    if (seen === undefined) return { kind: 'kept', text: before };
    return { kind: seen === this.#texts[marks.sent] ? 'sent' : 'other', text: seen };
  }

  /**
   * Makes one trial that looks at values. All replies to the poll are altered for some time, and carry a
   * value of their own: a slow observer would miss a single one.
   * @returns `kind`: what the observer showed; undefined if it is unknown and the trial is unclear
   */
  async trial(exam: Watching, wanted: ValueTrial): Promise<ValuesSeen> {
    const begun = await this.begin(exam);
    if ('shows' in begun) return begun;
    const { faults } = wanted;
    const made = typeof faults === 'function' ? faults({ values: begun.words }) : faults;
    const { spoilt } = await exam.disturb({ faults: made }, begun.seen, begun.limitMs);
    return begun.end(spoilt, wanted);
  }

  /**
   * Starts watching for the value that replies carry from now on.
   * @returns if that would show nothing, the reason as a trial
   */
  async begin(exam: Watching): Promise<WatchedValues | Trial> {
    const unusable = await this.ready(exam);
    if (unusable !== undefined) return unclear(unusable);
    if (!this.#isFollowing) return unclear('the observer did not follow good replies before the check');
    const [before, sent, after] = this.threeMarks();
    if (!(await this.settles(exam, before))) {
      exam.mark();
      return unclear('the observer did not follow the values of good replies');
    }
    const words = this.#marks[sent] as number[];
    exam.mark(words);
    const { facts } = exam.client;
    const wait = facts.waitMs ?? facts.timeoutMs?.value ?? USUAL_TIMEOUT_MS;
    // The limit allows one poll with all its retries.
    const limitMs = this.patienceMs + exam.periodMs + (1 + (facts.retries ?? USUAL_RETRIES)) * wait;
    let seen: SeenByObserver | undefined;
    void this.watch(exam, { before, sent }, limitMs).then((result) => {
      seen = result;
    });
    const end = (spoilt: readonly Exchange[], wanted: ValueTrial) =>
      this.#shown(exam, { ...wanted, seen, spoilt, after });
    return { words, limitMs, seen: () => seen, end };
  }

  /** Reports what an observer has shown, and whether it shows good values again. */
  async #shown(
    exam: Watching,
    {
      seen,
      spoilt,
      after,
      meaning,
      what,
      blame,
      isVoid,
    }: ValueTrial & {
      readonly seen: SeenByObserver | undefined;
      readonly spoilt: readonly Exchange[];
      readonly after: number;
    },
  ): Promise<ValuesSeen> {
    exam.mark(this.#marks[after]);
    const { last } = exam.log;
    const polls = await exam.recover();
    const isBack = polls && ((await this.settles(exam, after)) || (await this.settles(exam, after)));
    const now = isBack ? undefined : await this.#observer.read();
    const good = exam.askedAfter(last).filter(wentWell);
    const old = now?.ok && good.length > 0 && now.text !== this.#texts[after] ? now.text : undefined;
    if (spoilt.length === 0) return unclear('no request came while the observer was being read');
    if (isVoid && spoilt.some(isVoid)) return unclear('a disturbed reply was a valid reply to its request');
    if (seen?.kind === 'sent' && spoilt.some(isUnspoilt)) {
      return unclear('the fault could not act on one of the replies, so it was a good one');
    }
    const isPlaceholder = seen?.kind === 'other' && seen.text === (await this.#whenNoneComes(exam));
    const { kind, text } = isPlaceholder
      ? { kind: 'kept' as const, text: `${this.#seenText(seen).text}, as when no reply comes` }
      : this.#seenText(seen);
    const shows = meaning[kind];
    const few = spoilt.slice(0, 3);
    const trial = { kind, shows, text, evidence: withLastReply(few), isOfValues: true, weight: SEEN };
    if (shows === 'wrong') {
      const ever = isBack ? '' : ', and did not return to the true value';
      return { ...trial, text: `${text}${ever}`, conclusion: blame };
    }
    if (isBack) return trial;
    if (polls && old === undefined)
      return unclear(
        now?.ok === false ? now.error : 'the observer was late to show the values of good replies',
      );
    return {
      ...trial,
      shows: 'wrong',
      text:
        old === undefined
          ? 'the client did not poll as before'
          : `the observer showed ${quoted(old)} after good replies with another value`,
      evidence: withLastReply([...few, ...good.slice(-2)]),
      weight: DECIDES,
      conclusion: `${old === undefined ? 'does not poll as before' : 'shows no new values'} after ${what}`,
    };
  }

  #seenText(seen: SeenByObserver | undefined): SeenByObserver {
    if (!seen || seen.kind === 'kept') return { kind: 'kept', text: 'the observer kept its value' };
    const { kind, text } = seen;
    const other = this.#texts.includes(text)
      ? 'the value of an earlier reply'
      : 'which matches no good reply to that request';
    const whose = kind === 'sent' ? 'the value in the disturbed reply' : other;
    return { kind, text: `the observer then showed ${quoted(text)}, ${whose}` };
  }

  /**
   * What the observer shows instead of a value when no reply comes; undefined if it keeps the last one or
   * shows none.
   */
  #whenNoneComes(exam: Watching): Promise<string | undefined> {
    this.#placeholder ??= this.begin(exam).then(async (begun) => {
      if ('shows' in begun) return undefined;
      await exam.lose(begun.seen, begun.limitMs);
      const seen = begun.seen();
      exam.mark(this.#marks[this.#next]);
      await exam.recover();
      if (seen?.kind !== 'other') return undefined;
      exam.client.learn({ shownForNothing: seen.text });
      return seen.text;
    });
    return this.#placeholder;
  }

  async #learn(exam: Watching): Promise<string | undefined> {
    for (const step of STEPS) {
      const marks = marksFor(exam.target, step);
      if (!marks.ok) return marks.error;
      const texts = await this.#textsFor(exam, marks.value);
      if (texts) {
        [this.#marks, this.#texts] = [marks.value, texts];
        return undefined;
      }
    }
    const now = await this.#observer.read();
    const shows = now.ok ? `shows ${JSON.stringify(now.text.slice(0, 40))}` : now.error;
    return `the observer does not follow the values of the replies (${this.#observer.name} ${shows})`;
  }

  /** What the observer shows for each mark; undefined if it does not show a new text for each. */
  async #textsFor(exam: Watching, marks: readonly (readonly number[])[]): Promise<string[] | undefined> {
    // Once the last mark has been sent for some time, the observer no longer shows earlier replies.
    const last = marks.at(-1) ?? [];
    if (!(await this.#polledWith(exam, last))) return undefined;
    await exam.until(() => undefined, OBSERVER_PATIENCE_MS);
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

  /**
   * Gives the replies a value.
   * @returns false if the client does not read it
   */
  async #polledWith(exam: Watching, words: readonly number[]): Promise<boolean> {
    if (exam.marked?.words !== words) exam.mark(words);
    const since = exam.marked?.since ?? 0;
    const polled = () => exam.askedAfter(since).some(wentWell) || undefined;
    const limit = Math.max(POLL_MS, POLL_PERIODS * exam.periodMs);
    return (await exam.until(polled, limit)) === true;
  }

  /** Gives the replies a value, and waits until the observer has shown the same accepted text twice. */
  async #follow(
    exam: Watching,
    words: readonly number[],
    accepts: (text: string) => boolean,
  ): Promise<string | undefined> {
    if (!(await this.#polledWith(exam, words))) return undefined;
    const begin = exam.clock.now();
    const limit = OBSERVER_PATIENCE_MS + DELAYS * this.#delayMs + PATIENCE_PERIODS * exam.periodMs;
    let last: string | undefined;
    const shown = await this.#read(exam, limit, (text) => {
      const isSame = text !== undefined && text === last && accepts(text);
      last = text;
      return isSame ? text : undefined;
    });
    if (shown !== undefined) this.#delayMs = Math.max(this.#delayMs, exam.clock.now() - begin);
    return shown;
  }

  /**
   * Reads the observer repeatedly.
   * @param find gets the text that the observer shows, or undefined
   * @returns the result of `find`
   */
  async #read(
    exam: Watching,
    limitMs: number,
    find: (text: string | undefined) => string | undefined,
  ): Promise<string | undefined> {
    const end = exam.clock.now() + limitMs;
    while (exam.clock.now() < end) {
      const shown = await this.#observer.read();
      const found = find(shown.ok ? shown.text : undefined);
      if (found !== undefined) return found;
      await exam.until(() => undefined, this.#observer.paceMs);
    }
    return undefined;
  }

  /** True if a string is a value. If the client shows numbers, `null`, `bad` and the like mean that it has none. */
  #isValue(text: string | undefined): text is string {
    return text !== undefined && (isNumber(text) || !this.#texts.every(isNumber));
  }
}

function unclear(text: string): Trial {
  return { shows: 'unclear', text, evidence: [], isOfValues: true };
}

function isNumber(text: string): boolean {
  return text !== '' && Number.isFinite(Number(text));
}

/** True if a fault of the client test could not act on the reply, which therefore carried the mark like a good one. */
function isUnspoilt({ reply }: Exchange): boolean {
  return reply?.acted.some(({ notAchieved }) => notAchieved !== undefined) === true;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Exchanges as evidence that ends with the reply, which decides, not with its request. */
function withLastReply(exchanges: readonly Exchange[]): Evidence {
  return [...exchanges, exchanges.at(-1)?.reply ?? []].flat();
}

/**
 * Makes marks for the replies to a poll: values that differ from each other and from the true one but are
 * close to it, because a client may reject values out of range. Every word is changed, so that values of each
 * type and order change.
 * @returns the words of each mark, for the fault `values`
 */
function marksFor(poll: Poll, step: (typeof STEPS)[number]): Result<readonly number[][]> {
  if (!isReading(poll)) return failure('the client reads no registers or bits');
  const reply = poll.asked.findLast(wentWell)?.reply;
  const pdu = reply && pduOf(reply);
  if (!pdu) return failure('no reply to the poll is known');
  const data = pdu.slice(dataOffset(pdu));
  const numbers = Array.from({ length: MARKS }, (_, i) => i + 1);
  if (readingOf(poll)?.isBits !== true) {
    const words = wordsOf(data);
    const marked = (word: number, number: number, at: number) =>
      step === 'any order' ? VISIBLE + ((number + 3 * at) % 8) : (word + number * step) & 0xffff;
    return success(numbers.map((number) => words.map((word, at) => marked(word, number, at))));
  }
  if (wordAt(poll.pdu, 3) < FEWEST_BITS) return failure(`the client reads fewer than ${FEWEST_BITS} bits`);
  return success(numbers.map((number) => wordsOf(data.with(0, (data[0] as number) ^ number))));
}

/** Joins bytes to words; an odd byte at the end is the high byte of a word. */
function wordsOf(data: Uint8Array): number[] {
  return Array.from({ length: Math.ceil(data.length / 2) }, (_, i) => {
    return ((data[2 * i] as number) << 8) | (data[2 * i + 1] ?? 0);
  });
}
