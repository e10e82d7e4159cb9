import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';

type Passed = Exclude<StreamedView, { kind: 'left out' }>;

/** The outcome of a request; `waiting` while there is none yet. */
type PairOutcome = 'good' | 'exceptions' | 'ordered' | 'missing' | 'foreign' | 'waiting';

/** A request and its reply. Times are on the clock of `monotonicUs`. */
export interface Pair {
  readonly seq: number;
  /** When its first and last byte arrived. */
  readonly startUs: number;
  readonly endUs: number;
  /** When the reply started and ended; undefined without one. */
  replyUs?: number | undefined;
  repliedUs?: number | undefined;
  outcome: PairOutcome;
}

/** How many of the last pairs, reply times and rules are stored, and the seconds of the spark line. */
const MOST_PAIRS = 24;
const MOST_TIMES = 500;
const MOST_RULES = 20;
export const SPARK_S = 60;
/** The period over which a rate is measured, in s. */
const RATE_S = 10;

/** A poll, that is, a request that is sent again and again, with its outcomes. */
export class Talk {
  readonly line: string;
  readonly unit: number;
  readonly code: number;
  readonly address: number | undefined;
  readonly quantity: number | undefined;
  /** `read input registers 0–9`. */
  readonly what: string;
  readonly pairs: Pair[] = [];
  /** Times from requests to their replies, in µs, newest last. */
  readonly times: number[] = [];
  readonly exceptions = new Map<number, number>();
  /** The rules that acted, with what they did and how often, newest last. */
  readonly rules = new Map<string, number>();
  asked = 0;
  ordered = 0;
  missing = 0;
  slowestUs = 0;
  lastUs = 0;
  /** The newest values as text, or why there are none. */
  values = '';
  readonly #seconds = new Map<number, number>();
  #firstUs = 0;

  constructor(event: Passed) {
    const { line, unit = 0, function: code = 0, address, quantity, text } = event;
    [this.line, this.unit, this.code, this.address, this.quantity] = [line, unit, code, address, quantity];
    this.what = text.replace(/^unit \d+ /, '').replace(/: .*/s, '');
    this.#firstUs = event.monotonicUs;
  }

  ask({ seq, monotonicUs, startedUs = monotonicUs }: Passed, outcome: PairOutcome): Pair {
    const pair: Pair = { seq, startUs: startedUs, endUs: monotonicUs, outcome };
    this.asked++;
    this.lastUs = monotonicUs;
    const second = Math.floor(monotonicUs / 1e6);
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + 1);
    for (const old of this.#seconds.keys()) {
      if (old > second - SPARK_S) break;
      this.#seconds.delete(old);
    }
    this.pairs.push(pair);
    if (this.pairs.length > MOST_PAIRS) this.pairs.shift();
    return pair;
  }

  reply(event: Passed, pair: Pair): void {
    const { exception, silence, faults = [], responseTimeUs: us, steps, text } = event;
    const acted = faults.filter(({ outcome }) => outcome === 'applied');
    const isOrdered = acted.length > 0 || silence === 'fault';
    for (const { rule, kind } of acted) {
      const did = `${rule}: ${kind}`;
      const times = (this.rules.get(did) ?? 0) + 1;
      this.rules.delete(did);
      this.rules.set(did, times);
      const [oldest = did] = this.rules.keys();
      if (this.rules.size > MOST_RULES) this.rules.delete(oldest);
    }
    if (isOrdered) this.ordered++;
    else if (silence != null) this.missing++;
    else if (exception !== undefined)
      this.exceptions.set(exception, (this.exceptions.get(exception) ?? 0) + 1);
    const answered = exception === undefined ? 'good' : 'exceptions';
    const spoken = silence == null ? answered : 'missing';
    pair.outcome = isOrdered ? 'ordered' : spoken;
    if (event.kind === 'foreign response') pair.outcome = 'foreign';
    this.values = /: (.*)/s.exec(text)?.[1] ?? this.values;
    if (us == null || silence != null) return;
    pair.replyUs = pair.endUs + us;
    const ended = steps?.findLast(({ endedUs }) => endedUs !== null)?.endedUs;
    pair.repliedUs = ended == null ? event.monotonicUs : pair.endUs + ended;
    if (!isOrdered) this.slowestUs = Math.max(this.slowestUs, us);
    this.times.push(us);
    if (this.times.length > MOST_TIMES) this.times.shift();
  }

  /** How often it is sent, per second. */
  rate(nowUs: number): number {
    const now = Math.floor(nowUs / 1e6);
    let count = 0;
    for (const [second, number] of this.#seconds) if (second >= now - RATE_S && second < now) count += number;
    const known = Math.max(1, Math.min(RATE_S, now - Math.floor(this.#firstUs / 1e6)));
    return count / known;
  }

  /** The median time between two requests, in µs; undefined until there are two. */
  get periodUs(): number | undefined {
    const gaps = this.pairs.slice(1).map(({ endUs }, i) => endUs - (this.pairs[i]?.endUs ?? 0));
    return middle(gaps);
  }

  /** How often it was sent in each of the last seconds, oldest first. */
  spark(nowUs: number): number[] {
    const now = Math.floor(nowUs / 1e6);
    return Array.from({ length: SPARK_S }, (_, i) => this.#seconds.get(now - SPARK_S + i) ?? 0);
  }
}

/** Damage and the like on a line, which belongs to no poll. */
export interface Noise {
  readonly line: string;
  readonly kind: string;
  count: number;
  lastUs: number;
  text: string;
}

/** Kinds of events that are neither a request nor a reply. */
const NOISE: ReadonlySet<string> = new Set([
  'damaged',
  'discarded',
  'collision',
  'loop',
  'overrun',
  'damaged characters',
  'client rejected',
]);
const ASKING: ReadonlySet<string> = new Set(['request', 'broadcast', 'dropped', 'foreign request']);
const ANSWERING: ReadonlySet<string> = new Set(['reply', 'foreign response']);

/** Maximum number of polls; beyond it, the one not sent for longest is dropped. */
export const MOST = 200;
/** Maximum number of requests whose reply may still arrive. */
const MOST_OPEN = 1000;

/** The polls in the traffic, each with its outcomes. Its memory does not grow with the traffic. */
export class Conversations {
  readonly noises = new Map<string, Noise>();
  readonly #known = new Map<string, Talk>();
  readonly #open = new Map<number, { readonly of: Talk; readonly pair: Pair }>();

  add(events: readonly StreamedView[]): void {
    for (const event of events) {
      if (event.kind === 'left out') continue;
      if (ASKING.has(event.kind)) this.#ask(event);
      else if (ANSWERING.has(event.kind)) this.#answer(event);
      else if (NOISE.has(event.kind)) this.#noise(event);
    }
  }

  /** Sorted in a stable order: by line, unit, function and address. */
  get all(): Talk[] {
    return [...this.#known.values()].sort(
      (a, b) =>
        a.line.localeCompare(b.line) ||
        a.unit - b.unit ||
        a.code - b.code ||
        (a.address ?? -1) - (b.address ?? -1) ||
        (a.quantity ?? -1) - (b.quantity ?? -1),
    );
  }

  #ask(event: Passed): void {
    const key = keyOf(event);
    let of = this.#known.get(key);
    if (!of) {
      this.#makeRoom();
      of = new Talk(event);
      this.#known.set(key, of);
    }
    const isDropped = event.kind === 'dropped';
    const pair = of.ask(event, isDropped ? 'missing' : event.kind === 'broadcast' ? 'good' : 'waiting');
    if (isDropped) of.missing++;
    if (pair.outcome !== 'waiting') return;
    this.#open.set(event.seq, { of, pair });
    for (const seq of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(seq);
    }
  }

  #answer(event: Passed): void {
    const open = this.#open.get(event.request ?? -1);
    if (!open) return;
    this.#open.delete(event.request ?? -1);
    open.of.reply(event, open.pair);
  }

  #noise({ line, kind, monotonicUs, text }: Passed): void {
    const key = `${line}\n${kind}`;
    const noise = this.noises.get(key) ?? { line, kind, count: 0, lastUs: 0, text };
    noise.count++;
    [noise.lastUs, noise.text] = [monotonicUs, text];
    this.noises.set(key, noise);
  }

  #makeRoom(): void {
    if (this.#known.size < MOST) return;
    const [key] = [...this.#known].reduce((a, b) => (a[1].lastUs <= b[1].lastUs ? a : b));
    this.#known.delete(key);
  }
}

function keyOf({ line, unit, function: code, address, quantity, kind }: Passed): string {
  return [line, unit, code, address, quantity, kind === 'foreign request'].join('\n');
}

/** The median of some numbers; undefined if there are none. */
export function middle(numbers: readonly number[], share = 0.5): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))];
}

/** Formats a duration: `104 ms`, `2.5 s`. */
export function lengthOf(us: number): string {
  if (us < 10_000) return `${(us / 1000).toFixed(1)} ms`;
  return us < 1e6 ? `${Math.round(us / 1000)} ms` : `${(us / 1e6).toFixed(us < 1e7 ? 1 : 0)} s`;
}

/** What went wrong without a rule, as text: `exception 02 in 3 %`. */
export function ownTroubles(of: Talk): string[] {
  const shares = [...of.exceptions].map(
    ([code, count]) => `exception ${String(code).padStart(2, '0')} in ${percent(count, of.asked)}`,
  );
  return of.missing > 0 ? [...shares, `no reply to ${percent(of.missing, of.asked)}`] : shares;
}

/** What rules did, as text: `busy-pump: exception in 25 %`. */
export function orderedTroubles(of: Talk): string[] {
  return Array.from(of.rules, ([did, count]) => `${did} in ${percent(count, of.asked)}`);
}

function percent(count: number, all: number): string {
  const share = (100 * count) / Math.max(1, all);
  return share < 1 ? '< 1 %' : `${Math.round(share)} %`;
}

/** A scenario step that expects this poll as often as it is sent now. */
export function expectation(of: Talk): string {
  const { line, unit, code, address, quantity, periodUs } = of;
  const conditions = { line, unit, function: code, address, quantity };
  const known = Object.entries(conditions).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${typeof value === 'string' ? JSON.stringify(value) : value}`],
  );
  const ms = periodUs === undefined ? undefined : Math.max(1, Math.round(periodUs / 1000));
  const pace =
    ms === undefined
      ? []
      : [`every: ${ms}ms`, `tolerance: ${Math.max(1, Math.ceil(ms / 2))}ms`, `for: ${10 * ms}ms`];
  return `- name: ${JSON.stringify(`unit ${unit} ${of.what}`)}\n  expect: {${[...known, ...pace].join(', ')}}\n`;
}
