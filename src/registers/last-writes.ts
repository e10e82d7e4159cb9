/** Who writes: a line with the address of its client, where it has one; REST; or the reaction of another value. */
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

const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/** Cells whose last write is remembered: 64 pages of 256. Where more are written, the page begun first is forgotten. */
const MAX_PAGES = 64;

/** The last write of each cell. A page takes memory once one of its cells was written. */
export class LastWrites {
  readonly #pages = new Map<number, Write[]>();

  /** The write that changed the cell last; undefined when there was none, or when it was forgotten. */
  get(address: number): Write | undefined {
    return this.#pages.get(address >>> PAGE_BITS)?.[address & (PAGE_SIZE - 1)];
  }

  /** Notes a write of `count` cells from `address`. */
  note(address: number, count: number, write: Write): void {
    for (let cell = address; cell < address + count; cell++) {
      this.#page(cell >>> PAGE_BITS)[cell & (PAGE_SIZE - 1)] = write;
    }
  }

  #page(number: number): Write[] {
    const known = this.#pages.get(number);
    if (known) return known;
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size >= MAX_PAGES) this.#pages.delete(oldest);
    const page: Write[] = [];
    this.#pages.set(number, page);
    return page;
  }

  clear(): void {
    this.#pages.clear();
  }
}
