import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { bounded, probability, section, UNLIMITED, wholeNumber } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';

/** A longer schedule is treated as a mistake, because the whole schedule is searched for each request. */
const MAX_WINDOWS = 64;

/** A window of time, in ms since the rule was armed. */
export interface Window {
  /** When the window opens; immediately when absent. */
  readonly from?: number | undefined;
  /** How long the window stays open; forever when absent. */
  readonly for?: number | undefined;
  /** The time between two openings; absent for a window that opens only once. */
  readonly every?: number | undefined;
}

/** The schemas of the keys of a window that `when` shares. */
const windowShape = {
  from: duration().describe('Open the window after this delay (default: at once).').optional(),
  for: duration(1).describe('Duration (default: unlimited).').optional(),
};

const windowSchema = section({
  ...windowShape,
  every: duration(1).describe('Reopen the window at this interval (default: open it once).').optional(),
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

/** Reports whether the window is open. It includes its beginning and excludes its end. */
export function isOpen({ from = 0, for: length, every }: Window, elapsed: number): boolean {
  const since = elapsed - from;
  if (since < 0) return false;
  return length === undefined || (every === undefined ? since : since % every) < length;
}

/** A longer list is treated as a mistake, because the whole list is searched for each request. */
const MAX_LISTED = 256;

function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z.array(schema).min(1, { error: 'at least one' });
}

const RANGE = /^(\d{1,5})-(\d{1,5})$/;

/** Creates a schema for a number from `min` to `max`, or a range of such numbers as text, `11-125`. */
function numberOrRange(min: number, max: number, what: string) {
  const error = `${what} from ${min} to ${max}, or a range such as "${min}-${Math.min(max, min + 9)}"`;
  const range = z.string({ error }).refine(
    (text) => {
      const [first, last] = endsOf(text);
      return min <= first && first <= last && last <= max;
    },
    { error: (issue) => expectedMessage(error, issue.input) },
  );
  return z.union([wholeNumber(min, max, what), range], { error });
}

/** Returns the first and the last number of a range as text. */
function endsOf(text: string): [first: number, last: number] {
  const [, first, last] = RANGE.exec(text) ?? [];
  return [Number(first), Number(last)];
}

/** Returns the numbers in a number or a range. */
export function numbersOf(written: number | string): number[] {
  if (typeof written === 'number') return [written];
  const [first, last] = endsOf(written);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The schema of limits for a time: shorter than `below`, longer than `above`. */
const limits = section(
  {
    below: duration(1).optional(),
    above: duration(1).optional(),
  },
  { below: 'Shorter than this, in ms.', above: 'Longer than this, in ms.' },
).refine(({ below, above }) => (below === undefined) !== (above === undefined), {
  error: 'expected either below or above',
});

export const stateName = z
  .string({ error: 'the name of a state' })
  .regex(/^[\w-]{1,32}$/, { error: 'letters, digits, hyphens and underscores, at most 32' });

/** A state that a device must be in, or must not be in: `alive`, `"!alive"`, `{not: alive}`. */
const stateCondition = z.union(
  [
    stateName,
    z.string().regex(/^![\w-]{1,32}$/),
    section({ not: stateName }, { not: 'The device is not in this state.' }),
  ],
  { error: 'the name of a state, or {not: alive} for any other state' },
);

/** Reports whether a device is in the state that a condition requires. @param isIn reports whether it is in a state */
export function isInState(wanted: Condition['state'], isIn: (state: string) => boolean): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'object') return !isIn(wanted.not);
  return wanted.startsWith('!') ? !isIn(wanted.slice(1)) : isIn(wanted);
}

/** Which matches a rule acts on: every n-th, or all but every n-th. */
const everyCondition = z.union(
  [
    wholeNumber(1, UNLIMITED, 'a number of requests'),
    section(
      { not: wholeNumber(2, UNLIMITED, 'a number of requests') },
      { not: 'Every match except each n-th.' },
    ),
  ],
  { error: 'a number of requests, or {not: 3} for all except every third' },
);

/** Reports whether a rule acts on its n-th match. */
export function isEvery(wanted: Condition['every'], turn: number): boolean {
  return typeof wanted === 'object' ? turn % wanted.not !== 0 : turn % (wanted ?? 1) === 0;
}

function oneOrMore<Schema extends z.ZodType>(schema: Schema, error: string) {
  return bounded(z.union([schema, listOf(schema)], { error }), MAX_LISTED);
}

/** Creates a schema for one or more numbers or ranges. @param such an example of a range for the message */
function numbers(min: number, max: number, what: string, such: string) {
  const error = `${what} from ${min} to ${max}, a range such as "${such}", or a list of them`;
  return oneOrMore(numberOrRange(min, max, what), error);
}

const address = wholeNumber(0, 0xffff, 'an address');

const addressRange = z
  .tuple([address, address], { error: 'an address, or the first and last address of a range: [0, 9]' })
  .refine(([first, last]) => first <= last, { error: 'expected the first address before the last' });

/** The schema of `when`, which specifies the requests that a rule applies to. An absent field matches every request. */
export const conditionSchema = section({
  line: oneOrMore(z.string(), 'the name of a line or a list of them')
    .describe('Name of a line, or a list of names.')
    .optional(),
  device: oneOrMore(z.string(), 'the name of a device or a list of them')
    .describe('Name of a device, or a list of names.')
    .optional(),
  unit: numbers(0, 255, 'a unit identifier', '20-29')
    .describe('Unit identifier, a range such as 20-29, or a list.')
    .optional(),
  function: numbers(1, 255, 'a function code', '1-4')
    .describe('Function code, a range such as 1-4, or a list.')
    .optional(),
  address: bounded(
    z.union([address, addressRange, listOf(addressRange)], {
      error: 'an address from 0 to 65535, a range such as [0, 9], or a list of ranges',
    }),
    MAX_LISTED,
  )
    .describe(
      'Address, a range such as [0, 9], or a list of ranges. The request must use at least one of these addresses.',
    )
    .optional(),
  name: oneOrMore(z.string(), 'the name of a value, such as meter.voltage, or a list of them')
    .describe('Name of a value such as meter.voltage, or a list of names. Use this instead of `address`.')
    .optional(),
  quantity: numbers(0, 0xffff, 'a quantity', '11-125')
    .describe('Quantity of registers or coils, a range such as 11-125, or a list.')
    .optional(),
  connected: limits
    .describe('How long the client has been connected: {below: 1s} or {above: 1m}.')
    .optional(),
  nth: wholeNumber(1, UNLIMITED, 'a number of requests')
    .describe('The n-th request on its connection.')
    .optional(),
  pause: limits.describe('Silence on the line before the request: {below: 50ms} or {above: 30s}.').optional(),
  state: stateCondition
    .describe(
      'The device is in this state, set by another rule. {not: alive} matches while it is in any other state.',
    )
    .optional(),
  after: wholeNumber(0, UNLIMITED, 'a number of requests').describe('Skip the first n matches.').optional(),
  every: everyCondition
    .describe('Act on every n-th match, or on all except every n-th: {not: 3}.')
    .optional(),
  turns: numbers(1, 99_999, 'the number of a match', '3-7')
    .describe('Act on these matches: a number, a range such as 3-7, or a list.')
    .optional(),
  count: wholeNumber(1, UNLIMITED, 'a number of requests').describe('Stop after acting n times.').optional(),
  probability: probability.describe('Chance of acting on a match.').optional(),
  ...windowShape,
}).refine(({ address, name }) => address === undefined || name === undefined, {
  error: 'expected either address or name',
});

export type Condition = z.infer<typeof conditionSchema>;

/** Reports whether a rule with this condition may apply to requests on the line `name`. */
export function aimsAt({ line }: Condition, name: string): boolean {
  return includes(line, name);
}

/**
 * Reports whether a number meets a condition: it is in the condition or in one of its ranges, or the
 * condition is absent.
 */
export function includesNumber(
  wanted: number | string | readonly (number | string)[] | undefined,
  number: number,
): boolean {
  if (wanted === undefined || wanted === number) return true;
  return [wanted].flat().some((each) => {
    if (typeof each === 'number') return each === number;
    const [first, last] = endsOf(each);
    return first <= number && number <= last;
  });
}

/** Returns the first and the last number of each number or range. */
export function rangesOf(
  wanted: number | string | readonly (number | string)[],
): (readonly [first: number, last: number])[] {
  return [wanted].flat().map((each) => (typeof each === 'number' ? [each, each] : endsOf(each)));
}

/** Reports whether a time in ms is within the limits. An unknown time never is. */
function isWithin(wanted: Condition['pause'], time: number | undefined): boolean {
  if (wanted === undefined) return true;
  if (time === undefined) return false;
  return wanted.below === undefined ? time > (wanted.above as number) : time < wanted.below;
}

/** The times around a request that conditions may test. */
export interface Circumstances {
  /** How long the client has been connected in ms; undefined without connections. */
  readonly connected: number | undefined;
  readonly nth: number | undefined;
  /** The silence on the line before the request, in ms; undefined for the first request. */
  readonly pause: number | undefined;
}

/** Reports whether the circumstances meet a condition. They may differ between requests that are otherwise equal. */
export function isSo({ connected, nth, pause }: Condition, now: Circumstances | undefined): boolean {
  if (connected === undefined && nth === undefined && pause === undefined) return true;
  return (
    isWithin(connected, now?.connected) &&
    (nth === undefined || nth === now?.nth) &&
    isWithin(pause, now?.pause)
  );
}

/** Reports whether a condition includes this item, or is absent. */
export function includes<Item>(wanted: Item | readonly Item[] | undefined, item: Item): boolean {
  if (wanted === undefined) return true;
  return Array.isArray(wanted) ? wanted.includes(item) : wanted === item;
}

/**
 * Warns about a list of two quantities that may have been meant as a range: a list of two addresses is a
 * range, a list of two quantities is not.
 */
export function hintAtQuantities(quantity: Condition['quantity'], at: At): void {
  if (!Array.isArray(quantity) || quantity.length !== 2) return;
  const [low = 0, high = 0] = quantity.filter((each) => typeof each === 'number').toSorted((a, b) => a - b);
  if (high - low < 2) return;
  at.warn(`means ${low} or ${high} and nothing in between; write a range as "${low}-${high}"`);
}
