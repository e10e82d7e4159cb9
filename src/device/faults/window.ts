import { z } from 'zod';
import { bounded, section } from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';

/** A longer schedule is taken for a mistake, because the whole schedule is searched for each request. */
const MAX_WINDOWS = 64;

/** A window of time, in ms since the rule was put in force. */
export interface Window {
  /** When the window opens; at once when absent. */
  readonly from?: number | undefined;
  /** How long the window stays open; without an end when absent. */
  readonly for?: number | undefined;
  /** The time from one opening to the next; absent for a window that opens only once. */
  readonly every?: number | undefined;
}

/** The schemas of the keys of a window that `when` has, too. */
export const windowShape = {
  from: duration().describe('Start after this delay (default: now).').optional(),
  for: duration(1).describe('Duration (default: unlimited).').optional(),
};

const windowSchema = section({
  ...windowShape,
  every: duration(1).describe('Open again at this interval (default: once).').optional(),
}).superRefine((window, context) => {
  const message = whyWrong(window);
  if (message) context.addIssue({ code: 'custom', path: ['every'], message });
});

function whyWrong({ for: length, every }: Window): string | undefined {
  if (every === undefined) return undefined;
  if (length === undefined) return 'only a window with `for` can open again';
  return every > length ? undefined : `expected more than \`for\`, which is ${length} ms, got ${every}`;
}

/** The schema of `schedule`: the rule acts while one of the windows is open. */
export const scheduleSchema = bounded(
  z
    .array(windowSchema, { error: 'a list of windows, as in [{from: 10s, for: 5s}]' })
    .min(1, { error: 'at least one window' }),
  MAX_WINDOWS,
  'windows',
);

/** Tells whether the window is open. A window is open at its beginning, and closed at its end. */
export function isOpen({ from = 0, for: length, every }: Window, elapsed: number): boolean {
  const since = elapsed - from;
  if (since < 0) return false;
  return length === undefined || (every === undefined ? since : since % every) < length;
}
