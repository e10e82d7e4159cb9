/** Height of a row, in pixels. */
export const ROW = 24;
/** Rows that are drawn above and below the ones in view. */
const SPARE = 4;

/** Which rows are drawn. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The rows in view. */
export function spanOf(scrollTop: number, height: number, size: number): Span {
  const from = Math.max(0, Math.floor(scrollTop / ROW) - SPARE);
  return { from: Math.min(from, size), to: Math.min(size, Math.ceil((scrollTop + height) / ROW) + SPARE) };
}

/** Whether the last row is in view. */
export function isAtEnd(scrollTop: number, height: number, size: number): boolean {
  return scrollTop + height >= size * ROW - ROW;
}

/** Where to scroll to so that a row is in view; where it is in view already, nothing moves. */
export function scrolledTo(place: number, scrollTop: number, height: number): number {
  const top = place * ROW;
  if (top >= scrollTop && top + ROW <= scrollTop + height) return scrollTop;
  return Math.max(0, top - height / 2);
}
