import type { Piece } from '../../../../common/timeline/pieces.js';

/** A pause separates spans if it is longer than this, and longer than this many times the frames. */
const LONG_PAUSE_US = 20_000;
const LONG_PAUSE_SHARE = 3;

/**
 * The last time span with frames and without a long pause, in µs: what decides comes last.
 * @param frame the frame that decides, at the end of the span; undefined for the last one
 */
export function decidingSpan(
  pieces: readonly Piece[],
  frame?: number,
): { readonly from: number; readonly to: number } {
  const all = pieces.filter(({ lane }) => lane !== 'planned').toSorted((a, b) => a.startUs - b.startUs);
  const end = all.findLastIndex(({ id }) => id === frame);
  const spoken = end < 0 ? all : all.slice(0, end + 1);
  const busyUs = spoken.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
  const long = Math.max(LONG_PAUSE_US, LONG_PAUSE_SHARE * busyUs);
  let [from, to] = [0, Number.NEGATIVE_INFINITY];
  for (const { startUs, endUs } of spoken) {
    if (startUs - to > long) from = startUs;
    to = Math.max(to, endUs);
  }
  return { from, to: Math.max(from, to) };
}
