const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/** A counter per cell. Memory is allocated in pages on first use, since most cells of a large device stay unused. */
export class Counters {
  readonly #pages = new Map<number, Uint32Array>();

  get(address: number): number {
    return this.#pages.get(address >>> PAGE_BITS)?.[address & (PAGE_SIZE - 1)] ?? 0;
  }

  /** The counters of `count` cells from `address` on. */
  block(address: number, count: number): Uint32Array {
    const counts = new Uint32Array(count);
    if (this.#pages.size === 0) return counts;
    for (let i = 0; i < count; i++) counts[i] = this.get(address + i);
    return counts;
  }

  increment(address: number): void {
    this.incrementAll(address, 1);
  }

  /** Adds one to the counters of `count` cells from `address` on. */
  incrementAll(address: number, count: number): void {
    for (let done = 0; done < count; ) {
      const page = this.#page((address + done) >>> PAGE_BITS);
      const first = (address + done) & (PAGE_SIZE - 1);
      const end = Math.min(PAGE_SIZE, first + count - done);
      for (let index = first; index < end; index++) page[index] = (page[index] as number) + 1;
      done += end - first;
    }
  }

  #page(number: number): Uint32Array {
    let page = this.#pages.get(number);
    if (!page) {
      page = new Uint32Array(PAGE_SIZE);
      this.#pages.set(number, page);
    }
    return page;
  }

  clear(): void {
    this.#pages.clear();
  }
}
