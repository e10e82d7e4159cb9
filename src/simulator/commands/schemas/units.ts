import { z } from 'zod';
import { isMapping } from '../../../common/schema/parts.js';

/**
 * The most entries: there are 256 unit identifiers and `*`, and each may also be in a range, so more entries
 * must overlap.
 */
const MOST_ENTRIES = 512;

/** Refuses `units` of a line with too many entries before any entry is checked. */
export const unitsWithinReason = z
  .unknown()
  .refine((units) => !isMapping(units) || Object.keys(units).length <= MOST_ENTRIES, {
    error: ({ input }) =>
      `expected at most ${MOST_ENTRIES} entries, got ${Object.keys(input as object).length}`,
  });
