/** Where a recording is: a CSV file, the column of its times and the column of the values. */
export interface TrackSource {
  readonly file: string;
  readonly time: string;
  readonly column: string;
}

/** Neighbouring rows of a recording; times in ms since its first row, never going back. */
export interface TrackRows {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** A recording, which need not be in memory as a whole. */
export interface Track {
  /** From the first row to the end of the last one, in ms. The last row lasts as long as the row before it. */
  readonly length: number;
  /** The rows around `time` (from 0 to `length`), the first of them not after it; or why they can't be read. */
  rowsAt(time: number): TrackRows | string;
}
