import { z } from 'zod';
import type { AddressRange } from '../protocol/address-range.js';
import { bounded, section, UNLIMITED, wholeNumber } from '../schema/parts.js';
import type { FaultLine } from './ability.js';
import { probability } from './parameters.js';

/** The facts that a rule checks to decide whether it applies to a request. */
export interface RequestFacts {
  readonly line: FaultLine;
  readonly unitId: number;
  readonly functionCode: number;
  /** The addresses that the request touches; none for functions without any. */
  readonly ranges: readonly AddressRange[];
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
  line: oneOrMore(z.string(), 'the name of a line or a list of them').optional(),
  unit: oneOrMore(
    wholeNumber(0, 255, 'a unit identifier'),
    'a unit identifier from 0 to 255, or a list of them',
  ).optional(),
  function: oneOrMore(
    wholeNumber(1, 255, 'a function code'),
    'a function code from 1 to 255, or a list of them',
  ).optional(),
  address: bounded(
    z.union([address, addressRange, listOf(addressRange)], {
      error: 'an address from 0 to 65535, the first and the last one as [0, 9], or a list of such pairs',
    }),
    MAX_LISTED,
  ).optional(),
  quantity: oneOrMore(
    wholeNumber(1, 0xffff, 'a quantity'),
    'a quantity from 1 to 65535, or a list of them',
  ).optional(),
  after: wholeNumber(0, UNLIMITED, 'a number of requests').optional(),
  every: wholeNumber(1, UNLIMITED, 'a number of requests').optional(),
  count: wholeNumber(1, UNLIMITED, 'a number of requests').optional(),
  probability: probability.optional(),
});

export type Condition = z.infer<typeof conditionSchema>;

/** True when the request meets the conditions, before `after`, `every`, `count` and `probability` are considered. */
export function matchesRequest(
  { line, unit, function: code, address, quantity }: Condition,
  facts: RequestFacts,
): boolean {
  return (
    includes(line, facts.line.name) &&
    includes(unit, facts.unitId) &&
    includes(code, facts.functionCode) &&
    (address === undefined || facts.ranges.some((range) => touches(range, address))) &&
    (quantity === undefined || facts.ranges.some((range) => includes(quantity, range.quantity)))
  );
}

function includes<Item>(wanted: Item | readonly Item[] | undefined, item: Item): boolean {
  if (wanted === undefined) return true;
  return Array.isArray(wanted) ? wanted.includes(item) : wanted === item;
}

type Addresses = NonNullable<Condition['address']>;

function touches(range: AddressRange, wanted: Addresses): boolean {
  const end = range.address + range.quantity;
  return range.quantity > 0 && pairs(wanted).some(([first, last]) => range.address <= last && end > first);
}

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
