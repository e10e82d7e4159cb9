/** How many values fell between which bounds. */
export class Histogram {
  /** Ascending. A value counts in the first bucket whose bound it does not exceed. */
  readonly bounds: readonly number[];
  /** One for each bound, and a last one for greater values. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    counts[i] = (counts[i] as number) + 1;
    this.sum += value;
  }
}
