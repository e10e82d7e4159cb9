/** What happens to a client, from its own point of view. */
export type Effect =
  /** A reply was taken. */
  | 'good'
  /** The same, with a first register far from what it was at first, or a pattern that stands for no value. */
  | 'value'
  /** No byte came by the time-out. */
  | 'none'
  /** Some bytes came, and no whole reply by the time-out. */
  | 'partial'
  /** A complete reply that can't be taken. */
  | 'bad'
  | 'exception'
  /** Bytes came while nothing was asked, or a reply to an earlier request. */
  | 'late'
  /** All attempts of a request were without any reply. */
  | 'gave up'
  /** The server has closed the connection. */
  | 'closed'
  | 'connected'
  /** Nobody listened. */
  | 'refused';

/** One effect, and what is known about it. */
export interface Experience {
  readonly effect: Effect;
  /** How many requests the client had sent by then. */
  readonly requests: number;
  /** How many bytes came. */
  readonly bytes: number;
  /** The code of an exception. */
  readonly code?: number;
}

/** What a client does when its mistake shows. */
export type Deed =
  /** Never asks again, and holds on to its connection. */
  | 'dies'
  /** Its program ends. */
  | 'ends'
  /** Asks nothing until the server has closed the connection; on a serial line for ever. */
  | 'hangs'
  /** Asks again and again without waiting for replies, as often as the line can carry it, without end. */
  | 'floods'
  /** Sends bytes that are no request, once. */
  | 'babbles'
  /** Shows a value that no reply carried, for as long as its program runs. */
  | 'invents'
  /** Polls on, and shows for ever what it has read before. */
  | 'freezes'
  /** Asks only the first of its questions, for ever. */
  | 'strays'
  /** Rests ten times as long between its rounds, for ever. */
  | 'slows'
  /** Rests a third longer between its rounds, for ever. */
  | 'drags';

/** A planted mistake: feels everything that happens to a client, in order. @returns what the client is to do, when the mistake shows */
export type Trap = (experience: Experience) => Deed | undefined;

/** An effect that a trap waits for. */
export interface Feeling {
  readonly name: string;
  /** @param before the effect of the step before it */
  readonly fits: (experience: Experience, before: Experience | undefined) => boolean;
}

/** So many good replies later, the same effect was caused by something else. */
const SETTLED = 6;

/**
 * Drops the effects that go on: an effect counts when it was not felt during the last good replies. So one move is felt
 * once, however long it lasts.
 */
function beginnings(): (experience: Experience) => boolean {
  // What comes before the first reply was meant for somebody else.
  const goods = new Map<string, number>();
  let count = 0;
  return ({ effect, code }) => {
    if (effect === 'good') count++;
    const key = `${effect} ${code}`;
    if (count === 0) return false;
    const since = count - (goods.get(key) ?? Number.NEGATIVE_INFINITY);
    goods.set(key, count);
    return since >= SETTLED;
  };
}

/**
 * A mistake that shows when these effects were felt in this order, each begun by a move of its own.
 * @param within how many requests there may be from one to the next
 */
export function inOrder(steps: readonly Feeling[], within: number, deed: Deed): Trap {
  const begins = beginnings();
  let felt: Experience[] = [];
  return (experience) => {
    if (!begins(experience)) return undefined;
    const before = felt.at(-1);
    if (before && experience.requests - before.requests > within) felt = [];
    const next = steps[felt.length];
    if (next?.fits(experience, before)) felt.push(experience);
    else if (steps[0]?.fits(experience, undefined)) felt = [experience];
    if (felt.length < steps.length) return undefined;
    felt = [];
    return deed;
  };
}

const ERRORS: ReadonlySet<Effect> = new Set(['none', 'partial', 'bad', 'exception', 'closed', 'refused']);
/** How many errors in a row are counted, and how many requests later the next ones are. */
const BURST = { errors: 2, requests: 6 };

/** A counter of errors that is never reset. Of errors that follow each other closely it counts two. */
export function counts(limit: number, deed: Deed): Trap {
  let counted = 0;
  let inBurst = 0;
  let last = Number.NEGATIVE_INFINITY;
  return ({ effect, requests }) => {
    if (!ERRORS.has(effect)) return undefined;
    if (requests - last > BURST.requests) inBurst = 0;
    last = requests;
    if (++inBurst > BURST.errors || ++counted < limit) return undefined;
    counted = 0;
    return deed;
  };
}
