/** A cell that a change can be undone in. */
interface Exchanged {
  /** Puts a word into a cell without any notice. @returns the word that was there */
  exchange(address: number, word: number): number;
}

/** The cells of one image, in all changes that are kept of it. Undefined when they are no more, so that their memory is free. */
export interface KeptCells {
  cells: Exchanged | undefined;
}

/** Why nothing earlier is known of the registers of a device. */
export type Beginning = 'made' | 'restarted' | 'clock' | 'defined' | 'full';

/** A time, and why nothing is known from before it. */
export interface Since {
  readonly at: number;
  readonly why: Beginning;
}

/** The changes of cells around a moment. */
export interface Nearby {
  /** When the last change up to the moment was, and which word each cell that it has changed had before. */
  readonly last: { readonly at: number; readonly before: ReadonlyMap<number, number> } | undefined;
  /** When the last change before the moment was, and the first one after it. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

const FIRST_CAPACITY = 1024;

/** The most changes that are kept: 0.75 MB. A look undoes and redoes those after its moment, while no line is served. */
const MOST = 32_768;

/** Times that differ by less, in ms, are one: in REST they are rounded to µs. */
const MOMENT = 0.0011;

/**
 * What the registers of all devices held: a ring of their newest changes, each with the word before it. Values that
 * signals compute are not kept, because they can be computed again. Times are in ms of the clock of the devices.
 */
export class History {
  readonly #real: () => number;
  /** The moment that is looked at. */
  #moment: number | undefined;
  /** When that was due which is done now: it may be done late, by the next read. */
  due: number | undefined;
  #cells: KeptCells[] = [];
  #times = new Float64Array(FIRST_CAPACITY);
  #addresses = new Uint32Array(FIRST_CAPACITY);
  #words = new Uint16Array(FIRST_CAPACITY);
  /** How many changes were noted. The place of a change is its number modulo the capacity. */
  #count = 0;
  /** The time of the last change that was given up. */
  #dropped = Number.NEGATIVE_INFINITY;
  readonly #beginnings = new WeakMap<object, Since>();

  /** @param real returns real time in ms, which never goes back */
  constructor(real: () => number) {
    this.#real = real;
  }

  /** The clock of all devices: real time, or the moment that is looked at. */
  readonly now = (): number => this.#moment ?? this.#real();

  /** The time of changes that are made now. */
  get time(): number {
    return this.due ?? this.#real();
  }

  /** Notes that nothing from before now is known of a device or a value. */
  begin(of: object, why: Beginning): void {
    this.#beginnings.set(of, { at: this.#real(), why });
  }

  /** Returns the time from which on a device or a value is known. */
  since(of: object): Since {
    const { at, why } = this.#beginnings.get(of) ?? { at: Number.NEGATIVE_INFINITY, why: 'made' };
    return at >= this.#dropped ? { at, why } : { at: this.#dropped, why: 'full' };
  }

  /** Keeps the word of a cell that is about to change. */
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

  /** Lets `look` find all cells, and the clock of the devices, as they were at `time`. It must change nothing. */
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

  /** Undoes a change that was after `time`, or redoes it. Of one cell, earlier changes have earlier times. */
  #exchange(i: number, time: number): void {
    const place = i % this.#times.length;
    if ((this.#times[place] as number) <= time) return;
    const word = this.#cells[place]?.cells?.exchange(
      this.#addresses[place] as number,
      this.#words[place] as number,
    );
    if (word !== undefined) this.#words[place] = word;
  }

  /** The changes around a moment. @param cells those of which the words before the last change are wanted */
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
