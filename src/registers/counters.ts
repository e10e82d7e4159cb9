const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/** A counter per cell, in pages made when first counted: most cells of a large device are never touched. */
export class Counters {
  readonly #pages = new Map<number, Uint32Array>();

  get(address: number): number {
    return this.#pages.get(address >>> PAGE_BITS)?.[address & (PAGE_SIZE - 1)] ?? 0;
  }

  increment(address: number): void {
    let page = this.#pages.get(address >>> PAGE_BITS);
    if (!page) {
      page = new Uint32Array(PAGE_SIZE);
      this.#pages.set(address >>> PAGE_BITS, page);
    }
    const index = address & (PAGE_SIZE - 1);
    page[index] = (page[index] as number) + 1;
  }

  clear(): void {
    this.#pages.clear();
  }
}
