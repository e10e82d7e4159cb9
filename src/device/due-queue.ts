interface Entry<Item> {
  readonly item: Item;
  readonly key: number;
  /** Increases with each entry: of two items with the same key, the one set first comes first. */
  readonly order: number;
}

/**
 * Items sorted by a number, such as the time at which something is due. Finding the first item takes constant
 * time, a change O(log n).
 */
export class DueQueue<Item> {
  /** A binary heap: an entry precedes those at twice its index plus 1 and plus 2. */
  readonly #heap: Entry<Item>[] = [];
  readonly #places = new Map<Item, number>();
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** The item with the lowest number; undefined if there is none. */
  get first(): Item | undefined {
    return this.#heap[0]?.item;
  }

  /** Adds an item, or changes its number. An item whose number stays the same keeps its place. */
  set(item: Item, key: number): void {
    const place = this.#places.get(item) ?? this.#heap.length;
    if (this.#heap[place]?.key === key) return;
    this.#settle({ item, key, order: this.#order++ }, place);
  }

  /** Removes an item. @returns whether it was present */
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

  /** Moves an entry to its place. Only the entry at `place`, which may be the end, is overwritten. */
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

  /** Returns the index of the first of an entry's children; 0 if it has none. */
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
