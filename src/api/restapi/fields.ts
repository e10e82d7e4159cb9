import { z } from 'zod';

/** Numbers arrive as numbers or, from HTML forms and scripts, as their text. */
function numeric(text: RegExp, what: string) {
  const error = ({ input }: { input?: unknown }) =>
    input === undefined ? `missing, expected ${what}` : `expected ${what}`;
  return z.union([z.number(), z.string().regex(text, { error })], { error }).transform(Number);
}

/** A whole number, 0 or more. */
export const integer = numeric(/^\s*\d{1,9}\s*$/, 'a whole number, 0 or more').refine(
  (value) => Number.isSafeInteger(value) && value >= 0,
  { error: 'expected a whole number, 0 or more' },
);

/** The same where an empty field means that nothing was chosen. */
export const optionalInteger = z.preprocess((value) => (value === '' ? undefined : value), integer.nullish());

const LONGEST_WAIT_S = 3600;

/** Seconds, fractions allowed. */
export const seconds = numeric(/^\s*\d+(\.\d+)?\s*$/, 'seconds').refine(
  (value) => value >= 0 && value <= LONGEST_WAIT_S,
  { error: `expected seconds, 0 to ${LONGEST_WAIT_S}` },
);

/** Flags are on when their key is there, whatever its value. */
export const anyValue = z.unknown().optional();
