const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/**
 * Stores an item for each cell, in pages of 256 cells. Most cells of a large device stay unused, and take no
 * memory.
 */
class Pages<Page> {
  readonly #pages = new Map<number, Page>();
  readonly #newPage: () => Page;
  readonly #most: number;

  /**
   * Creates an empty store.
   * @param most the maximum number of pages; beyond that, the oldest page is forgotten
   */
  constructor(newPage: () => Page, most = Number.POSITIVE_INFINITY) {
    this.#newPage = newPage;
    this.#most = most;
  }

  get(address: number): Page | undefined {
    return this.#pages.get(address >>> PAGE_BITS);
  }

  begun(address: number): Page {
    const number = address >>> PAGE_BITS;
    const known = this.#pages.get(number);
    if (known) return known;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size < this.#most) break;
      this.#pages.delete(oldest);
    }
    const page = this.#newPage();
    this.#pages.set(number, page);
    return page;
  }

  clear(): void {
    this.#pages.clear();
  }
}

const indexOf = (address: number) => address & (PAGE_SIZE - 1);

export class Counters {
  readonly #pages = new Pages(() => new Uint32Array(PAGE_SIZE));

  get(address: number): number {
    return this.#pages.get(address)?.[indexOf(address)] ?? 0;
  }

  /** Copies the counters of the cells starting at `address` into a list of zeros. */
  copy(address: number, counts: Uint32Array): void {
    for (let done = 0; done < counts.length; ) {
      const first = indexOf(address + done);
      const end = Math.min(PAGE_SIZE, first + counts.length - done);
      const page = this.#pages.get(address + done);
      if (page) counts.set(page.subarray(first, end), done);
      done += end - first;
    }
  }

  increment(address: number): void {
    this.incrementAll(address, 1);
  }

  /** Adds one to the counters of `count` cells starting at `address`. */
  incrementAll(address: number, count: number): void {
    for (let done = 0; done < count; ) {
      const page = this.#pages.begun(address + done);
      const first = indexOf(address + done);
      const end = Math.min(PAGE_SIZE, first + count - done);
      for (let index = first; index < end; index++) page[index] = (page[index] as number) + 1;
      done += end - first;
    }
  }

  clear(): void {
    this.#pages.clear();
  }
}

/**
 * The source of a write: a line, with the address of its client if it has one; REST; or the reaction of
 * another value.
 */
export interface Writer {
  readonly by: 'line' | 'REST' | 'reaction';
  readonly line?: string | undefined;
  readonly client?: string | undefined;
}

/** One write, which may have changed many cells. */
export interface Write {
  readonly writer: Writer;
  readonly at: Date;
}

/** The number of pages whose last writes are remembered. */
const MAX_PAGES = 64;

/** The last write of each cell. */
export class LastWrites {
  readonly #pages = new Pages<Write[]>(() => [], MAX_PAGES);

  /** Returns the write that last changed the cell; undefined if there was none, or it was forgotten. */
  get(address: number): Write | undefined {
    return this.#pages.get(address)?.[indexOf(address)];
  }

  /** Records a write to `count` cells starting at `address`. */
  note(address: number, count: number, write: Write): void {
    for (let cell = address; cell < address + count; cell++) this.#pages.begun(cell)[indexOf(cell)] = write;
  }

  clear(): void {
    this.#pages.clear();
  }
}
