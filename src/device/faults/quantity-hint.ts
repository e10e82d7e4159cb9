import type { At } from '../../common/schema/at.js';
import type { Condition } from './condition.js';

/**
 * A list of two addresses is a range, a list of two quantities is not: warns where that may have been meant.
 */
export function hintAtQuantities(quantity: Condition['quantity'], at: At): void {
  if (!Array.isArray(quantity) || quantity.length !== 2) return;
  const [low = 0, high = 0] = quantity.filter((each) => typeof each === 'number').toSorted((a, b) => a - b);
  if (high - low < 2) return;
  at.warn(`means ${low} or ${high}, and nothing between them: a range is written "${low}-${high}"`);
}
