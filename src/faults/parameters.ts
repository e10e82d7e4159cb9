import { z } from 'zod';

/** Building blocks of the parameters of faults; each says what was expected. */

export function wholeNumber(what: string, min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  const error = `${what}, ${range}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function nonNegative(what: string) {
  const error = `${what}, 0 or more`;
  return z.number({ error }).min(0, { error });
}

export const milliseconds = nonNegative('ms');

const PERCENT = 'percent, 0 to 100';
export const percent = z.number({ error: PERCENT }).min(0, { error: PERCENT }).max(100, { error: PERCENT });

const PROBABILITY = 'a probability, 0 to 1';
export const probability = z
  .number({ error: PROBABILITY })
  .min(0, { error: PROBABILITY })
  .max(1, { error: PROBABILITY });
