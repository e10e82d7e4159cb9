/** Times of similar size are counted together: each class is this many times the previous one. */
const RATIO = Math.log(1.02);
/** Times below this, in ms, are one class. */
const SHORTEST = 0.01;

/** Counts times in classes of 2 %, so that millions of them need little memory. Times are in ms. */
export class Tally {
  readonly #classes = new Map<number, { times: number; sum: number }>();
  count = 0;
  least = Number.POSITIVE_INFINITY;
  most = Number.NEGATIVE_INFINITY;

  add(ms: number): void {
    const key = Math.round(Math.log(Math.max(ms, SHORTEST)) / RATIO);
    const known = this.#classes.get(key) ?? { times: 0, sum: 0 };
    this.#classes.set(key, { times: known.times + 1, sum: known.sum + ms });
    this.count++;
    this.least = Math.min(this.least, ms);
    this.most = Math.max(this.most, ms);
  }

  /** Returns a percentile: the mean of the 2 % class that it falls in. NaN if nothing was counted. */
  at(share: number): number {
    let left = Math.min(this.count - 1, Math.floor(share * this.count));
    for (const [, { times, sum }] of this.#sorted()) {
      if (left < times) return sum / times;
      left -= times;
    }
    return Number.NaN;
  }

  /** The number of times up to each power of two, shortest first. */
  byPowersOfTwo(): [bound: number, times: number][] {
    const counts = new Map<number, number>();
    for (const [, { times, sum }] of this.#sorted()) {
      const bound = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(sum / times, SHORTEST))));
      counts.set(bound, (counts.get(bound) ?? 0) + times);
    }
    return [...counts];
  }

  #sorted() {
    return [...this.#classes].sort((a, b) => a[0] - b[0]);
  }
}
