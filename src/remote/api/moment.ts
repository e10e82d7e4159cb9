import { z } from 'zod';
import { expectedMessage } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';

/** Matches an ISO 8601 time. Digits after the milliseconds are captured. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3}(\d*))?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

const TIME = 'a time such as 2026-03-01T12:00:00Z, or how long ago, such as 30s or 5m';

/** A moment, written as a time or as a time before now; in ms since 1970. */
export const moment = z.string({ error: TIME }).transform((text, context) => {
  const ago = duration().safeParse(text);
  if (ago.success) return Date.now() - ago.data;
  const [isTime, micro] = ISO_TIME.exec(text) ?? [];
  const time = isTime === undefined ? Number.NaN : Date.parse(text);
  if (Number.isNaN(time)) {
    context.issues.push({ code: 'custom', input: text, message: expectedMessage(TIME, text) });
    return z.NEVER;
  }
  return micro ? time + Number(`0.${micro}`) : time;
});
