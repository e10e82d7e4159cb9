/** The source of a recording: a CSV file, its time column and its value column. */
export interface TrackSource {
  readonly file: string;
  readonly time: string;
  readonly column: string;
}

/** Consecutive rows of a recording. Times are in ms since its first row and never go back. */
export interface TrackRows {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** A recording, which need not be in memory as a whole. */
export interface Track {
  /** From the first row to the end of the last one, in ms. The last row lasts as long as the row before it. */
  readonly length: number;
  /** Rows around `time` (0 to `length`). The first is not after `time`. Or why the rows can't be read. */
  rowsAt(time: number): TrackRows | string;
}
