import { z } from 'zod';
import type { AddressRange } from '../../protocol/address-range.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import { unknownName } from '../../schema/nearest.js';
import { oneOf, section, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import { expectedMessage } from '../../schema/problem.js';
import { FORM_NAMES } from '../../traffic/capture/capture.js';
import { EVENT_KINDS } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { DIRECTIONS } from '../../traffic/view.js';
import { moment } from '../moment.js';
import { inQuery } from './query.js';

const MAX_UNIT = 255;
const MAX_FUNCTION = 127;

/** A range of numbers as text: `7` or `10-19`. */
const RANGE = /^(\d{1,5})(?:-(\d{1,5}))?$/;

/** Filters that every list of traffic takes. Several values are separated by commas; one of them has to fit. */
function filterShape(lines: readonly string[]) {
  return {
    line: listOf((text) => choice('line', text, lines)),
    unit: ranges(MAX_UNIT, 'a unit identifier'),
    function: ranges(MAX_FUNCTION, 'a function code'),
    address: ranges(ADDRESS_SPACE - 1, 'an address'),
    rule: listOf(ruleName),
    since: moment.optional(),
    until: moment.optional(),
  };
}

function eventShape(lines: readonly string[]) {
  return {
    ...filterShape(lines),
    direction: listOf((text) => choice('direction', text, DIRECTIONS)),
    kind: listOf((text) => choice('kind', text, EVENT_KINDS)),
  };
}

function pageShape(maxLimit: number, what: string) {
  return {
    /** How many at most. */
    limit: inQuery(wholeNumber(1, maxLimit)).default(100),
    /** Only those with higher sequence numbers, the oldest first; the newest ones when absent. */
    after: afterIn(what).optional(),
  };
}

/** Only events after this one. */
function afterIn(what: string) {
  return inQuery(wholeNumber(0, UNLIMITED, what));
}

const MAX_EVENTS = 100_000;
const MAX_EXCHANGES = 1000;

/** The query of `/traffic`. @param lines names of the lines that there are */
export function trafficQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    ...pageShape(MAX_EVENTS, 'a sequence number'),
    format: oneOf(['json', 'ndjson', 'csv']).optional(),
  });
}

/** The query of `/exchanges`. */
export function exchangesQuery(lines: readonly string[]) {
  return section({ ...filterShape(lines), ...pageShape(MAX_EXCHANGES, 'the identifier of an exchange') });
}

/** The query of `/events`. */
export function eventsQuery(lines: readonly string[]) {
  return section({ ...eventShape(lines), after: afterIn('a sequence number').optional() });
}

/** The query of `/capture.pcapng`. */
export function captureQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    after: afterIn('a sequence number').optional(),
    form: oneOf(FORM_NAMES).default('wire'),
    /** `?follow` or `?follow=true`: what comes, without an end. */
    follow: z.literal(['', 'true', 'false'], { error: 'true or false' }).default('false'),
  });
}

type Asked = Partial<z.infer<ReturnType<typeof trafficQuery>>>;

/** The filter that a query asks for. */
export function filterOf(asked: Asked): TrafficFilter {
  const { line, unit, function: functions, address, direction, kind, rule, since, until } = asked;
  return {
    lines: line && new Set(line),
    units: unit && new Set(unit.flatMap(numbersIn)),
    functions: functions && new Set(functions.flatMap(numbersIn)),
    addresses: address,
    directions: direction && new Set(direction),
    kinds: kind && new Set(kind),
    rules: rule && new Set(rule),
    since,
    until,
  };
}

function numbersIn({ address, quantity }: AddressRange): number[] {
  return Array.from({ length: quantity }, (_, i) => address + i);
}

type Parsed<Item> = { readonly item: Item } | { readonly wrong: string };

/** Values that are separated by commas, or given in several keys of the same name. A value may have commas itself. */
function listOf<Item>(parse: (text: string) => Parsed<Item>) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((input, context) => {
      const items: Item[] = [];
      for (const each of [input].flat().flatMap((text) => parsedList(text, parse))) {
        if ('item' in each) items.push(each.item);
        else context.issues.push({ code: 'custom', input, message: each.wrong });
      }
      return items;
    })
    .optional();
}

function parsedList<Item>(text: string, parse: (text: string) => Parsed<Item>): Parsed<Item>[] {
  const whole = parse(text);
  return 'item' in whole ? [whole] : text.split(',').map(parse);
}

/** Any name will do: a rule that acted may have been removed since. */
function ruleName(text: string): Parsed<string> {
  return text.includes(',') ? { wrong: 'expected names of rules' } : { item: text };
}

function ranges(max: number, what: string) {
  return listOf((text): Parsed<AddressRange> => {
    const [, first, last = first] = RANGE.exec(text.trim()) ?? [];
    const [from, to] = [Number(first), Number(last)];
    return first !== undefined && from <= to && to <= max
      ? { item: { address: from, quantity: to - from + 1 } }
      : { wrong: expectedMessage(`${what} from 0 to ${max}, or a range such as 1-9`, text) };
  });
}

function choice<Choice extends string>(
  what: string,
  text: string,
  choices: readonly Choice[],
): Parsed<Choice> {
  const item = choices.find((each) => each === text);
  return item === undefined ? { wrong: unknownName(what, text, choices) } : { item };
}
