/** Which time a strip shows: `fromUs` at its left edge, `usPerPixel` from there on. */
export interface Scale {
  readonly fromUs: number;
  readonly usPerPixel: number;
}

/** From a fifth of a µs to a minute for a pixel. */
const FINEST = 0.2;
const COARSEST = 60e6;

export function xOf({ fromUs, usPerPixel }: Scale, us: number): number {
  return (us - fromUs) / usPerPixel;
}

export function usAt({ fromUs, usPerPixel }: Scale, x: number): number {
  return fromUs + x * usPerPixel;
}

/** Makes everything `factor` times as wide; the moment at `x` stays where it is. */
export function zoomed(scale: Scale, factor: number, x: number): Scale {
  const usPerPixel = bounded(scale.usPerPixel / factor);
  return { fromUs: usAt(scale, x) - x * usPerPixel, usPerPixel };
}

/** Moves what is shown by so many pixels; to the right when they are positive. */
export function moved({ fromUs, usPerPixel }: Scale, pixels: number): Scale {
  return { fromUs: fromUs - pixels * usPerPixel, usPerPixel };
}

/** Shows all from one moment to another, with a tenth of the width free on both sides. */
export function fitted(startUs: number, endUs: number, width: number): Scale {
  const usPerPixel = bounded((endUs - startUs) / (0.8 * width));
  return centred({ fromUs: 0, usPerPixel }, (startUs + endUs) / 2, width);
}

/** Shows a moment in the middle. */
export function centred({ usPerPixel }: Scale, us: number, width: number): Scale {
  return { fromUs: us - (width / 2) * usPerPixel, usPerPixel };
}

/** Two fingers have moved: what was under each of them still is. */
export function pinched(
  scale: Scale,
  before: readonly [number, number],
  after: readonly [number, number],
): Scale {
  const middle = (before[0] + before[1]) / 2;
  const shift = (after[0] + after[1]) / 2 - middle;
  const spread = Math.abs(before[1] - before[0]);
  const factor = spread > 0 ? Math.abs(after[1] - after[0]) / spread : 1;
  return moved(factor > 0 ? zoomed(scale, factor, middle) : scale, shift);
}

function bounded(usPerPixel: number): number {
  return Math.min(COARSEST, Math.max(FINEST, usPerPixel));
}
