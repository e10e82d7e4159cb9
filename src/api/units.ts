import { z } from 'zod';
import { isMapping } from '../schema/parts.js';

/** There are 256 unit identifiers and `*`, and each may be in a range besides: more entries than this must collide. */
const MOST_ENTRIES = 512;

/** `units` of a line, refused by their number before any of them is looked at. */
export const unitsWithinReason = z
  .unknown()
  .refine((units) => !isMapping(units) || Object.keys(units).length <= MOST_ENTRIES, {
    error: ({ input }) =>
      `expected at most ${MOST_ENTRIES} entries, got ${Object.keys(input as object).length}`,
  });
