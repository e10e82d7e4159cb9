import { DAY_MS } from '../../common/schema/milliseconds.js';

/** A line that stands for others that were left out. */
const LEFT_OUT = /^[\s[(<]*(?:\.{3,}|…+|snip(?:ped)?)[\s\])>]*$/i;

/** The shortest gap, in ms: no client waits that long for a reply. */
const SHORTEST_GAP = 60_000;
/** A gap is this many times as long as the longest time between two earlier lines. */
const LONGER = 10;

/** The times in a log, which continue past midnight, and the gaps between its parts. */
export class LogTimes {
  /** The time of the last line in each part; undefined if it has none. */
  readonly ends: (number | undefined)[] = [undefined];
  #last: number | undefined;
  #longest = 0;
  /** Added to the time of day. */
  #shift = 0;

  /** The number of the current part, from 0. */
  get part(): number {
    return this.ends.length - 1;
  }

  /** Records the time of day of a line, if it has one. @returns the time since midnight before the first line, in ms */
  take(clock: number | undefined, line: string): number | undefined {
    if (LEFT_OUT.test(line)) this.ends.push(undefined);
    if (clock === undefined) return undefined;
    let at = clock + this.#shift;
    const last = this.#last ?? at;
    if (last - at > DAY_MS / 2) {
      this.#shift += DAY_MS;
      at += DAY_MS;
    }
    const step = Math.abs(at - last);
    const isGap = step > SHORTEST_GAP && (at < last || step > LONGER * this.#longest);
    // The next part of the log is from an earlier hour.
    if (isGap && at < last) {
      this.#shift += step;
      at = last;
    }
    this.#longest = Math.max(this.#longest, step);
    this.#last = at;
    if (isGap) this.ends.push(at);
    else this.ends[this.part] = at;
    return at;
  }
}
