import { z } from 'zod';
import { bounded, probability, section, UNLIMITED, wholeNumber } from '../schema/parts.js';
import { windowShape } from './window.js';

/** A longer list is taken for a mistake, because all of it is searched for each request. */
const MAX_LISTED = 256;

function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z.array(schema).min(1, { error: 'at least one' });
}

function oneOrMore<Schema extends z.ZodType>(schema: Schema, error: string) {
  return bounded(z.union([schema, listOf(schema)], { error }), MAX_LISTED);
}

const address = wholeNumber(0, 0xffff, 'an address');

const addressRange = z
  .tuple([address, address], { error: 'an address, or the first and the last one: [0, 9]' })
  .refine(([first, last]) => first <= last, { error: 'expected the first address before the last' });

/** `when`: which requests a rule is for. An empty field matches every request. */
export const conditionSchema = section({
  line: oneOrMore(z.string(), 'the name of a line or a list of them')
    .describe('Name of a line, or a list of names.')
    .optional(),
  unit: oneOrMore(
    wholeNumber(0, 255, 'a unit identifier'),
    'a unit identifier from 0 to 255, or a list of them',
  )
    .describe('Unit identifier, or a list.')
    .optional(),
  function: oneOrMore(
    wholeNumber(1, 255, 'a function code'),
    'a function code from 1 to 255, or a list of them',
  )
    .describe('Function code, or a list.')
    .optional(),
  address: bounded(
    z.union([address, addressRange, listOf(addressRange)], {
      error: 'an address from 0 to 65535, the first and the last one as [0, 9], or a list of such pairs',
    }),
    MAX_LISTED,
  )
    .describe('Address, a range as [0, 9], or a list of ranges. One of them must be in the request.')
    .optional(),
  name: oneOrMore(z.string(), 'the name of a value, such as meter.voltage, or a list of them')
    .describe('Name of a value such as meter.voltage, or a list. Instead of an address.')
    .optional(),
  quantity: oneOrMore(wholeNumber(1, 0xffff, 'a quantity'), 'a quantity from 1 to 65535, or a list of them')
    .describe('Quantity of registers or coils, or a list.')
    .optional(),
  after: wholeNumber(0, UNLIMITED, 'a number of requests').describe('Skip the first n matches.').optional(),
  every: wholeNumber(1, UNLIMITED, 'a number of requests').describe('Act on every n-th match.').optional(),
  count: wholeNumber(1, UNLIMITED, 'a number of requests').describe('Stop after acting n times.').optional(),
  probability: probability.describe('Chance of acting on a match.').optional(),
  ...windowShape,
}).refine(({ address, name }) => address === undefined || name === undefined, {
  error: 'expected either address or name',
});

export type Condition = z.infer<typeof conditionSchema>;

/** True when a rule with this condition can be for requests of the line `name`. */
export function aimsAt({ line }: Condition, name: string): boolean {
  return includes(line, name);
}

/** True when a condition wants this, or wants nothing. */
export function includes<Item>(wanted: Item | readonly Item[] | undefined, item: Item): boolean {
  if (wanted === undefined) return true;
  return Array.isArray(wanted) ? wanted.includes(item) : wanted === item;
}
