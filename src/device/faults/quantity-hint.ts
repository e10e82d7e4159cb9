import type { At } from '../../common/schema/at.js';
import type { Condition } from './condition.js';

/**
 * Warns about a list of two quantities, which may have been meant as a range: a list of two addresses is a
 * range, a list of two quantities is not.
 */
export function hintAtQuantities(quantity: Condition['quantity'], at: At): void {
  if (!Array.isArray(quantity) || quantity.length !== 2) return;
  const [low = 0, high = 0] = quantity.filter((each) => typeof each === 'number').toSorted((a, b) => a - b);
  if (high - low < 2) return;
  at.warn(`means ${low} or ${high}, and nothing between them: a range is written "${low}-${high}"`);
}
