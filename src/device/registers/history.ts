/** A cell in which a change can be undone. */
interface Exchanged {
  /** Puts a word into a cell without any notification. @returns the previous word */
  exchange(address: number, word: number): number;
}

/**
 * The cells of one image, referenced by all its recorded changes. Undefined once the image is gone, to free
 * its memory.
 */
export interface KeptCells {
  cells: Exchanged | undefined;
}

/** Why the history of a device's registers begins where it does. */
export type Beginning = 'made' | 'restarted' | 'clock' | 'defined' | 'full';

/** A time, and why nothing before it is known. */
export interface Since {
  readonly at: number;
  readonly why: Beginning;
}

/** The changes of cells around a moment. */
export interface Nearby {
  /** When the last change up to the moment happened, and the previous word of each cell that it changed. */
  readonly last: { readonly at: number; readonly before: ReadonlyMap<number, number> } | undefined;
  /** When the last change before the moment happened, and the first one after it. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

const FIRST_CAPACITY = 1024;

/**
 * The maximum number of changes kept: 0.75 MB. Looking at a moment undoes and redoes the changes after it,
 * while no line is served.
 */
const MOST = 32_768;

/** Times closer than this, in ms, count as equal: REST rounds them to µs. */
const MOMENT = 0.0011;

/**
 * The past contents of the registers of all devices: a ring of the newest changes, each with the previous
 * word. Values computed by signals are not kept, because they can be recomputed. Times are in ms of the
 * devices' clock.
 */
export class History {
  readonly #real: () => number;
  /** The moment being looked at. */
  #moment: number | undefined;
  /** When the action that runs now was due; it may run late, on the next read. */
  due: number | undefined;
  #cells: KeptCells[] = [];
  #times = new Float64Array(FIRST_CAPACITY);
  #addresses = new Uint32Array(FIRST_CAPACITY);
  #words = new Uint16Array(FIRST_CAPACITY);
  /** How many changes were recorded. The index of a change is its number modulo the capacity. */
  #count = 0;
  /** The time of the last change that was dropped. */
  #dropped = Number.NEGATIVE_INFINITY;
  readonly #beginnings = new WeakMap<object, Since>();

  /** @param real returns real time in ms, which never goes back */
  constructor(real: () => number) {
    this.#real = real;
  }

  /** The clock of all devices: real time, or the moment being looked at. */
  readonly now = (): number => this.#moment ?? this.#real();

  /** The time to record for changes made now. */
  get time(): number {
    return this.due ?? this.#real();
  }

  /** Records that nothing before now is known of a device or a value. */
  begin(of: object, why: Beginning): void {
    this.#beginnings.set(of, { at: this.#real(), why });
  }

  /** Returns the earliest time for which the history of a device or a value is known. */
  since(of: object): Since {
    const { at, why } = this.#beginnings.get(of) ?? { at: Number.NEGATIVE_INFINITY, why: 'made' };
    return at >= this.#dropped ? { at, why } : { at: this.#dropped, why: 'full' };
  }

  /** Records the word of a cell that is about to change. */
  note(cells: KeptCells, address: number, word: number, at: number): void {
    const size = this.#times.length;
    if (this.#count === size && size < MOST) this.#grow();
    const place = this.#count++ % this.#times.length;
    if (this.#count > this.#times.length)
      this.#dropped = Math.max(this.#dropped, this.#times[place] as number);
    this.#cells[place] = cells;
    this.#times[place] = at;
    this.#addresses[place] = address;
    this.#words[place] = word;
  }

  #grow(): void {
    const [times, addresses, words] = [this.#times, this.#addresses, this.#words];
    const size = 2 * times.length;
    this.#times = new Float64Array(size);
    this.#addresses = new Uint32Array(size);
    this.#words = new Uint16Array(size);
    this.#times.set(times);
    this.#addresses.set(addresses);
    this.#words.set(words);
  }

  /** Calls `look` with all cells, and the clock of the devices, as they were at `time`. It must change nothing. */
  at<Seen>(time: number, look: () => Seen): Seen {
    const first = Math.max(0, this.#count - this.#times.length);
    for (let i = this.#count - 1; i >= first; i--) this.#exchange(i, time);
    this.#moment = time;
    try {
      return look();
    } finally {
      this.#moment = undefined;
      for (let i = first; i < this.#count; i++) this.#exchange(i, time);
    }
  }

  /** Undoes a change that happened after `time`, or redoes it. For one cell, earlier changes have earlier times. */
  #exchange(i: number, time: number): void {
    const place = i % this.#times.length;
    if ((this.#times[place] as number) <= time) return;
    const word = this.#cells[place]?.cells?.exchange(
      this.#addresses[place] as number,
      this.#words[place] as number,
    );
    if (word !== undefined) this.#words[place] = word;
  }

  /** Returns the changes around a moment. @param cells the cells whose words before the last change are wanted */
  around(time: number, of: ReadonlySet<object>, cells: object): Nearby {
    let [last, previous, next] = [
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ];
    const kept = this.#cells.length;
    for (let place = 0; place < kept; place++) {
      const changed = this.#cells[place]?.cells;
      if (!changed || !of.has(changed)) continue;
      const at = this.#times[place] as number;
      if (at <= time) last = Math.max(last, at);
      else next = Math.min(next, at);
      if (at < time - 2 * MOMENT) previous = Math.max(previous, at);
    }
    const before = new Map<number, number>();
    for (let place = 0; place < kept; place++) {
      if (this.#times[place] !== last || this.#cells[place]?.cells !== cells) continue;
      const address = this.#addresses[place] as number;
      if (!before.has(address)) before.set(address, this.#words[place] as number);
    }
    return {
      last: Number.isFinite(last) ? { at: last, before } : undefined,
      previous: Number.isFinite(previous) ? previous : undefined,
      next: Number.isFinite(next) ? next : undefined,
    };
  }
}
