import type { StripPiece } from './strip.js';

/** A stretch of an axis. A long pause takes a fixed width. Times in ms, places from 0 to the width of the axis. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly width: number;
  readonly isPause: boolean;
}

/** A pause is long when it takes more than this, and more than three times as long as all frames together. */
const LONG_PAUSE_MS = 20;
const LONG_PAUSE_SHARE = 3;
const PAUSE_WIDTH = 56;
/** Time that is shown before and after a long pause at most. */
const MARGIN_SHARE = 0.02;

/** Maps times to places: to scale, except for long pauses. */
export function axisOf(pieces: readonly StripPiece[], width: number): Stretch[] {
  const busy = merged(pieces);
  const total = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const long = Math.max(LONG_PAUSE_MS, LONG_PAUSE_SHARE * total);
  const stretches: { from: number; to: number; isPause: boolean }[] = [];
  for (const [from, to] of busy) {
    const last = stretches.at(-1);
    if (last && from - last.to > long) stretches.push({ from: last.to, to: from, isPause: true });
    else if (last) {
      last.to = to;
      continue;
    }
    stretches.push({ from, to, isPause: false });
  }
  return placed(stretches, width);
}

/** The place of a moment on the axis. */
export function placeOf(axis: readonly Stretch[], moment: number): number {
  const stretch = axis.find(({ to }) => moment <= to) ?? axis.at(-1);
  if (!stretch) return 0;
  const share = stretch.to > stretch.from ? (moment - stretch.from) / (stretch.to - stretch.from) : 0;
  return stretch.x + Math.min(1, Math.max(0, share)) * stretch.width;
}

function placed(
  stretches: readonly { readonly from: number; readonly to: number; readonly isPause: boolean }[],
  width: number,
): Stretch[] {
  const pauses = stretches.filter(({ isPause }) => isPause).length;
  const pauseWidth = Math.min(PAUSE_WIDTH, width / 2 / Math.max(1, pauses));
  const shown = stretches.reduce((sum, { from, to, isPause }) => sum + (isPause ? 0 : to - from), 0);
  const spans = stretches.length - pauses;
  const least = width * MARGIN_SHARE;
  const scale = Math.max(0, width - pauses * pauseWidth - spans * least) / Math.max(shown, 1e-6);
  let x = 0;
  return stretches.map(({ from, to, isPause }) => {
    const stretch = { from, to, isPause, x, width: isPause ? pauseWidth : least + scale * (to - from) };
    x += stretch.width;
    return stretch;
  });
}

/** Times at which something is on the line, without overlaps. */
function merged(pieces: readonly StripPiece[]): [from: number, to: number][] {
  const spans: [number, number][] = [];
  for (const { from, to } of [...pieces].sort((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}
