import { SLICE_MS } from '../slices.js';

/**
 * The next parts of a long list, as many as can be made without a pause. `isLast` is true when there are no
 * more.
 */
export function nextParts<Part>(parts: Iterator<Part | undefined>): {
  readonly parts: Part[];
  readonly isLast: boolean;
} {
  const made: Part[] = [];
  const endsAt = performance.now() + SLICE_MS;
  do {
    const { done, value } = parts.next();
    if (done) return { parts: made, isLast: true };
    if (value !== undefined) made.push(value);
  } while (performance.now() < endsAt);
  return { parts: made, isLast: false };
}
