import { numberFrom } from '../schema/parts.js';

/** Parameters that several faults and conditions have. */

export const percent = numberFrom(0, 100, 'percent');

export const probability = numberFrom(0, 1, 'a probability');
