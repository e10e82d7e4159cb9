import { type ReplyPlan, stepsOf } from '../../modbus/protocol/reply-plan.js';

/** The size of a reply. `ms` does not include the time that the bytes take on the wire. */
export interface Size {
  readonly bytes: number;
  /** The total of all waits and breaks, in ms. */
  readonly ms: number;
  /** The number of steps in the plan. The transport performs each step separately. */
  readonly pieces: number;
}

export function sizeOf(plan: ReplyPlan): Size {
  const steps = stepsOf(plan);
  let [bytes, ms] = [0, 0];
  for (const step of steps) {
    ms += step.waitMs;
    if (step.kind === 'bytes') bytes += step.bytes.length;
    else if (step.kind === 'break') ms += step.ms;
  }
  return { bytes, ms, pieces: steps.length };
}

/** The limits of a reply after the faults of all rules have changed it. */
export const MAX_REPLY_BYTES = 64 * 1024;
export const MAX_REPLY_MS = 60 * 60 * 1000;
const MAX_REPLY_PIECES = 4096;

/**
 * The maximum work for the faults of a reply. Faults block the event loop while they act, so their work is
 * limited too. A unit of work is about 10 ns on the machine on which these figures were measured.
 */
const MAX_WORK = 250_000;

/**
 * The maximum time for the faults of a reply beyond `UNTIMED_WORK`, in ms of processor time; the time of
 * other programs does not count. On a slow computer, or before V8 has compiled the code, a unit of work takes
 * much longer than 10 ns.
 */
const MAX_WORK_MS = 3;

/**
 * The work that is done before the time is checked: a pause of the whole process does not keep an ordinary
 * fault from acting, and ordinary faults avoid the cost of two checks.
 */
const UNTIMED_WORK = 25_000;

/** How much work is done between two checks of the clock. A check takes 1 µs. */
const WORK_BETWEEN_LOOKS = 2_000;

export const WORK = {
  /** The fixed cost of a fault. */
  fault: 300,
  /** A step of the plan that a fault visits, or copies into another list. */
  step: 10,
  /** A changed frame, not counting its pieces and bytes. */
  frame: 300,
  /** A piece of a frame that is changed or created. */
  piece: 40,
  /** A byte of a frame that is changed. */
  byte: 1,
  /** A random byte. */
  randomByte: 2,
  /** One of several distinct random numbers. */
  number: 20,
} as const;

/** The size and the work of what a helper is about to create or do. */
export interface Cost {
  readonly bytes?: number;
  readonly pieces?: number;
  /** Work other than creating the pieces, in the units of `MAX_WORK`. */
  readonly work?: number;
}

/** A limit that a fault would exceed, and the value that the fault would have reached. */
export interface Excess {
  readonly kind: 'excess';
  readonly of: keyof Size | 'work';
  readonly found: number;
}

/** Starts measuring work. The returned function returns how many ms the work has taken so far. */
export type StartTime = () => () => number;

/**
 * Measures elapsed time or processor time, whichever is shorter, in ms, so that other programs and threads do
 * not count.
 */
export const startWorkTime: StartTime = () => {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1000);
  };
};

/**
 * The budget of the faults on one reply. Helpers ask the budget before they create something. A fault that
 * was refused continues, so that the total that it wanted is known; its result is then discarded.
 */
export class Budget {
  readonly #startTime: StartTime;
  /** Returns how many ms the faults have worked beyond `UNTIMED_WORK`. */
  #workTime: (() => number) | undefined;
  #isLate = false;
  #nextLook = UNTIMED_WORK;
  #work = 0;
  /** What the current fault has created, and what it was refused. */
  #made = NOTHING;
  #refused = NOTHING;

  constructor(startTime: StartTime) {
    this.#startTime = startTime;
  }

  /** Starts the account of a fault that acts on a plan with this many pieces. */
  begin({ pieces }: Size): void {
    this.#made = NOTHING;
    this.#refused = NOTHING;
    this.spend({ work: WORK.fault + WORK.step * pieces });
  }

  /**
   * Spends work, bytes and pieces. Returns false if a limit would be exceeded: the caller must then create
   * nothing, and the fault does not act.
   */
  spend({ bytes = 0, pieces = 0, work = 0 }: Cost): boolean {
    const wanted = { bytes, pieces, work: work + WORK.piece * pieces };
    const made = sum(this.#made, wanted);
    const fits = made.bytes <= MAX_REPLY_BYTES && made.pieces <= MAX_REPLY_PIECES;
    if (fits && this.#work + wanted.work <= MAX_WORK && this.#isInTime()) {
      this.#made = made;
      this.#work += wanted.work;
      return true;
    }
    // A piece that is too long is never created, so it costs no work.
    this.#refused = sum(this.#refused, fits ? wanted : { ...wanted, work: 0 });
    return false;
  }

  #isInTime(): boolean {
    if (this.#work > this.#nextLook) {
      this.#nextLook = this.#work + WORK_BETWEEN_LOOKS;
      this.#workTime ??= this.#startTime();
      this.#isLate ||= this.#workTime() > MAX_WORK_MS;
    }
    return !this.#isLate;
  }

  /**
   * Returns the limit that the current fault exceeds if it leaves a plan of this size; undefined if it
   * exceeds none.
   */
  excess({ bytes, ms, pieces }: Size): Excess | undefined {
    const refused = this.#refused;
    return (
      beyond('bytes', bytes + refused.bytes, MAX_REPLY_BYTES) ??
      beyond('ms', toMicroseconds(ms), MAX_REPLY_MS) ??
      beyond('pieces', pieces + refused.pieces, MAX_REPLY_PIECES) ??
      beyond('work', this.#isLate ? Number.POSITIVE_INFINITY : this.#work + refused.work, MAX_WORK)
    );
  }
}

const NOTHING: Required<Cost> = { bytes: 0, pieces: 0, work: 0 };

function sum(a: Required<Cost>, b: Required<Cost>): Required<Cost> {
  return { bytes: a.bytes + b.bytes, pieces: a.pieces + b.pieces, work: a.work + b.work };
}

function beyond(of: Excess['of'], found: number, max: number): Excess | undefined {
  return found > max ? { kind: 'excess', of, found } : undefined;
}

/** Removes the rounding errors of binary fractions. */
function toMicroseconds(ms: number): number {
  return Math.round(1000 * ms) / 1000;
}

const WOULD: Readonly<Record<keyof Size, string>> = {
  bytes: 'the reply would be longer than 64 KiB',
  ms: 'the reply would take longer than an hour',
  pieces: `the reply would have more than ${MAX_REPLY_PIECES} pieces`,
};

/** Returns the reason to report for a fault that would exceed this limit. */
export function whyNot(of: keyof Size): string {
  return WOULD[of];
}

const ALLOWED: Readonly<Record<Excess['of'], string>> = {
  bytes: `${MAX_REPLY_BYTES} bytes per reply`,
  ms: `${MAX_REPLY_MS} ms per reply`,
  pieces: `${MAX_REPLY_PIECES} pieces per reply`,
  work: `${MAX_WORK} units of work per reply`,
};

/** Returns the message for a rule that exceeds a limit on a plain reply. */
export function refusal({ of, found }: Excess): string {
  return `expected at most ${ALLOWED[of]}, got up to ${found}`;
}
