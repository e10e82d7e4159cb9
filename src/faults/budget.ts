/** What a reply comes to. The time that its bytes take on the wire is not counted. */
export interface Size {
  readonly bytes: number;
  /** All waits and breaks, in ms. */
  readonly ms: number;
  /** Steps of the plan: a transport does each of them by itself. */
  readonly pieces: number;
}

/** What the faults of all rules together may make of a reply. */
export const MAX_REPLY_BYTES = 64 * 1024;
export const MAX_REPLY_MS = 60 * 60 * 1000;
const MAX_REPLY_PIECES = 4096;

/**
 * Nothing else runs while faults act on a reply, so their work is limited too. A unit is about 10 ns on the machine
 * where these figures were measured; there the worst rules that were found take 3 ms.
 */
const MAX_WORK = 250_000;

export const WORK = {
  /** Every fault, whatever it does. */
  fault: 300,
  /** A step of the plan that a fault goes over, or copies into another list. */
  step: 10,
  /** A frame that is changed, beside its pieces and bytes. */
  frame: 300,
  /** A piece of a frame that is changed or made. */
  piece: 40,
  /** A byte of a frame that is changed. */
  byte: 1,
  /** A byte that is drawn at random. */
  randomByte: 2,
  /** One of several different random numbers. */
  number: 20,
} as const;

/** What a helper is about to make, or to do. */
export interface Cost {
  readonly bytes?: number;
  readonly pieces?: number;
  /** Beside that of making the pieces, in the units of `MAX_WORK`. */
  readonly work?: number;
}

/** More than a reply may have: of what, and how much the fault would have made it. */
export interface Excess {
  readonly kind: 'excess';
  readonly of: keyof Size | 'work';
  readonly found: number;
}

/**
 * What the faults on one reply may spend. Helpers ask before they make something; a fault that asked for too much goes
 * on as if it had it, so that it is known how much it wanted, and what it made is thrown away.
 */
export class Budget {
  #work = 0;
  /** What the fault that acts now has made, and what was refused to it. */
  #made = NOTHING;
  #refused = NOTHING;

  /** A fault is going to act on a plan of so many pieces. */
  begin({ pieces }: Size): void {
    this.#made = NOTHING;
    this.#refused = NOTHING;
    this.spend({ work: WORK.fault + WORK.step * pieces });
  }

  /** False when a reply can't have so much: then it is not to be made, and the fault will not have acted. */
  spend({ bytes = 0, pieces = 0, work = 0 }: Cost): boolean {
    const wanted = { bytes, pieces, work: work + WORK.piece * pieces };
    const made = sum(this.#made, wanted);
    const fits = made.bytes <= MAX_REPLY_BYTES && made.pieces <= MAX_REPLY_PIECES;
    if (fits && this.#work + wanted.work <= MAX_WORK) {
      this.#made = made;
      this.#work += wanted.work;
      return true;
    }
    // What is too long by itself is no work, as it is not made.
    this.#refused = sum(this.#refused, fits ? wanted : { ...wanted, work: 0 });
    return false;
  }

  /** What is too much when the fault that acts now leaves a plan of this size; undefined when nothing is. */
  excess({ bytes, ms, pieces }: Size): Excess | undefined {
    const refused = this.#refused;
    return (
      beyond('bytes', bytes + refused.bytes, MAX_REPLY_BYTES) ??
      beyond('ms', toMicroseconds(ms), MAX_REPLY_MS) ??
      beyond('pieces', pieces + refused.pieces, MAX_REPLY_PIECES) ??
      beyond('work', this.#work + refused.work, MAX_WORK)
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

/** Adding up fractions leaves behind what nobody meant. */
function toMicroseconds(ms: number): number {
  return Math.round(1000 * ms) / 1000;
}

const WOULD: Readonly<Record<keyof Size, string>> = {
  bytes: 'the reply would be longer than 64 KiB',
  ms: 'the reply would take longer than an hour',
  pieces: `the reply would have more than ${MAX_REPLY_PIECES} pieces`,
};

/** Why a fault does not act that would make too much of something. */
export function whyNot(of: keyof Size): string {
  return WOULD[of];
}

const ALLOWED: Readonly<Record<Excess['of'], string>> = {
  bytes: `${MAX_REPLY_BYTES} bytes in a reply`,
  ms: `${MAX_REPLY_MS} ms in a reply`,
  pieces: `${MAX_REPLY_PIECES} pieces in a reply`,
  work: `${MAX_WORK} units of work on a reply`,
};

/** Why a rule is refused that does this to a plain reply. */
export function refusal({ of, found }: Excess): string {
  return `expected at most ${ALLOWED[of]}, got up to ${found}`;
}
