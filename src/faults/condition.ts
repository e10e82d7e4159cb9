import { z } from 'zod';
import { bounded, section, UNLIMITED, wholeNumber } from '../schema/parts.js';
import type { FaultLine } from './ability.js';
import { type Access, type NamedValue, touches, touchesValue } from './named-value.js';
import { probability } from './parameters.js';
import { windowShape } from './window.js';

/** The facts that a rule checks to decide whether it applies to a request. */
export interface RequestFacts extends Access {
  readonly line: FaultLine;
  readonly unitId: number;
}

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

/** `when`: which requests a rule is for. A condition that is absent matches anything. */
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
    .describe('Name of a value such as meter.voltage, or a list. In place of an address.')
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

/**
 * True when the request meets the conditions, before the time, `after`, `every`, `count` and `probability` are
 * considered.
 * @param values what the names in the condition stand for; undefined when there are none
 */
export function matchesRequest(
  { line, unit, function: code, address, quantity }: Condition,
  values: readonly NamedValue[] | undefined,
  facts: RequestFacts,
): boolean {
  return (
    includes(line, facts.line.name) &&
    includes(unit, facts.unitId) &&
    includes(code, facts.functionCode) &&
    (address === undefined ||
      pairs(address).some(([first, last]) => facts.ranges.some((range) => touches(range, first, last)))) &&
    (values === undefined || values.some((value) => touchesValue(facts, value))) &&
    (quantity === undefined || facts.ranges.some((range) => includes(quantity, range.quantity)))
  );
}

function includes<Item>(wanted: Item | readonly Item[] | undefined, item: Item): boolean {
  if (wanted === undefined) return true;
  return Array.isArray(wanted) ? wanted.includes(item) : wanted === item;
}

type Addresses = NonNullable<Condition['address']>;

function pairs(wanted: Addresses): readonly (readonly [number, number])[] {
  if (typeof wanted === 'number') return [[wanted, wanted]];
  return isPair(wanted) ? [wanted] : wanted;
}

function isPair(wanted: Exclude<Addresses, number>): wanted is [number, number] {
  return typeof wanted[0] === 'number';
}

/** True when a rule with this condition can be for requests of the line `name`. */
export function aimsAt({ line }: Condition, name: string): boolean {
  return includes(line, name);
}
