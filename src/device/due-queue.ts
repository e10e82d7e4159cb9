interface Entry<Item> {
  readonly item: Item;
  readonly key: number;
  /** Grows with each entry: of two items with the same key, the one set first comes first. */
  readonly order: number;
}

/**
 * Items in the order of a number each, such as the time at which something is due. The first item is known at
 * once, and a change takes time that grows with the logarithm of the number of items.
 */
export class DueQueue<Item> {
  /** A heap: an entry comes before those at twice its index plus 1 and 2. */
  readonly #heap: Entry<Item>[] = [];
  /** Where each item is in the heap. */
  readonly #places = new Map<Item, number>();
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** The item with the least number; undefined when there is none. */
  get first(): Item | undefined {
    return this.#heap[0]?.item;
  }

  /** Adds an item, or gives it another number. An item whose number stays the same keeps its place. */
  set(item: Item, key: number): void {
    const place = this.#places.get(item) ?? this.#heap.length;
    if (this.#heap[place]?.key === key) return;
    this.#settle({ item, key, order: this.#order++ }, place);
  }

  /** Takes an item out. @returns whether it was there */
  delete(item: Item): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#heap.pop() as Entry<Item>;
    if (last.item !== item) this.#settle(last, place);
    return true;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#places.clear();
  }

  /** Puts an entry where it belongs. Only the entry at `place`, which may be the end, is overwritten. */
  #settle(entry: Entry<Item>, place: number): void {
    let at = place;
    for (let above = (at - 1) >> 1; at > 0 && isBefore(entry, this.#at(above)); above = (at - 1) >> 1) {
      this.#put(this.#at(above), at);
      at = above;
    }
    for (let below = this.#firstBelow(at); below > 0 && isBefore(this.#at(below), entry); ) {
      this.#put(this.#at(below), at);
      at = below;
      below = this.#firstBelow(at);
    }
    this.#put(entry, at);
  }

  /** The index of the first of the entries below one; 0 when there is none. */
  #firstBelow(at: number): number {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    if (left >= this.size) return 0;
    return right < this.size && isBefore(this.#at(right), this.#at(left)) ? right : left;
  }

  #at(index: number): Entry<Item> {
    return this.#heap[index] as Entry<Item>;
  }

  #put(entry: Entry<Item>, at: number): void {
    this.#heap[at] = entry;
    this.#places.set(entry.item, at);
  }
}

function isBefore(one: Entry<unknown>, other: Entry<unknown>): boolean {
  return one.key < other.key || (one.key === other.key && one.order < other.order);
}
