import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { unknownName } from '../../../common/schema/nearest.js';
import { oneOf, section, UNLIMITED, wholeNumber } from '../../../common/schema/parts.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import { duration, moment } from '../../../common/schema/units.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import type { AddressRange } from '../../../modbus/protocol/pdu.js';
import { inQuery } from '../../../simulator/commands/schemas/value.js';
import { FORM_NAMES } from '../../../simulator/traffic/capture/packet.js';
import { DIRECTIONS, EVENT_KINDS } from '../../../simulator/traffic/event.js';
import type { TrafficFilter } from '../../../simulator/traffic/reading.js';

const MAX_UNIT = 255;
const MAX_FUNCTION = 127;

/** Matches a number or a range of numbers: `7` or `10-19`. */
const RANGE = /^(\d{1,5})(?:-(\d{1,5}))?$/;

const MOMENT = 'A time in ISO 8601, or how long ago: `30s`.';
const SEVERAL = 'Several are separated by commas.';

/** The filters of every list of traffic. Several values are separated by commas; one of them has to match. */
function filterShape(lines: readonly string[]) {
  return {
    line: listOf((text) => choice('line', text, lines)).describe(`Names of lines. ${SEVERAL}`),
    unit: ranges(MAX_UNIT, 'a unit identifier').describe(`Unit identifiers or ranges of them. ${SEVERAL}`),
    function: ranges(MAX_FUNCTION, 'a function code').describe(
      `Function codes or ranges of them. ${SEVERAL}`,
    ),
    address: ranges(ADDRESS_SPACE - 1, 'an address').describe(
      `Addresses or ranges of them, any of which the request is about. ${SEVERAL}`,
    ),
    host: listOf(addressText).describe(
      `Addresses that clients came to, on lines that have several (\`tcp.hosts\`). ${SEVERAL}`,
    ),
    rule: listOf(ruleName).describe(`Names of fault rules that acted. ${SEVERAL}`),
    since: moment.optional().describe(`Only what passed since then. ${MOMENT}`),
    until: moment.optional().describe(`Only what passed until then. ${MOMENT}`),
  };
}

export function eventShape(lines: readonly string[]) {
  return {
    ...filterShape(lines),
    direction: listOf((text) => choice('direction', text, DIRECTIONS)).describe(
      `\`in\`, \`out\` or \`none\`. ${SEVERAL}`,
    ),
    kind: listOf((text) => choice('kind', text, EVENT_KINDS)).describe(`Kinds of events. ${SEVERAL}`),
    problems: z
      .literal(['', 'true', 'false', 'ordered', 'unordered'], {
        error: 'true, false, ordered or unordered',
      })
      .optional()
      .describe(
        '`true`: only what went wrong: damage, collisions, dropped requests, and replies that are exceptions, changed by a fault or missing. `ordered`: of these, only what fault rules did; `unordered`: only the others.',
      ),
  };
}

function pageShape(maxLimit: number, what: string) {
  return {
    limit: inQuery(wholeNumber(1, maxLimit)).default(100).describe('How many at most.'),
    after: afterIn(what)
      .optional()
      .describe('Only those with higher sequence numbers, from the oldest on; the newest ones when absent.'),
    wait: inQuery(duration(0, LONGEST_WAIT_MS))
      .default(0)
      .describe(
        'How long the answer waits for the first one: `5s`, at most 20 s. It comes at once when there is one, and is empty when none comes.',
      ),
  };
}

/** A limit to events after a sequence number. */
function afterIn(what: string) {
  return inQuery(wholeNumber(0, UNLIMITED, what));
}

/** The parameters for the beginning of a stream of events. */
export function streamStart() {
  return afterIn('a sequence number').optional().describe('Begins after the event of this sequence number.');
}

/**
 * The longest wait for traffic, in ms. A connection is closed on which no byte of an answer could be sent for
 * 30 s.
 */
const LONGEST_WAIT_MS = 20_000;

const MAX_EVENTS = 100_000;
const MAX_EXCHANGES = 1000;

/** The query of `/traffic`. @param lines names of present and past lines; the list may grow */
export function trafficQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    ...pageShape(MAX_EVENTS, 'a sequence number'),
    format: oneOf(['json', 'ndjson', 'csv']).optional().describe('How the answer is written.'),
  });
}

/** The query of `/exchanges`. */
export function exchangesQuery(lines: readonly string[]) {
  return section({ ...filterShape(lines), ...pageShape(MAX_EXCHANGES, 'the identifier of an exchange') });
}

/** The kinds of messages of `/events`. */
const MESSAGES = ['traffic', 'summary', 'sums'] as const;

/** The query of `/events`. */
export function eventsQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    after: streamStart(),
    tell: listOf((text) => choice('message', text, MESSAGES)).describe(
      'Which messages come: `traffic` (the only one when absent); `summary`, how everything is, once a second; and `sums`, what passed in each second. ' +
        SEVERAL,
    ),
  });
}

/** The query of `/capture.pcapng`. */
export function captureQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    after: streamStart(),
    form: oneOf(FORM_NAMES).default('wire').describe('How the frames are stored: see docs/captures.md.'),
    follow: z
      .literal(['', 'true', 'false'], { error: 'true or false' })
      .default('false')
      .describe('`?follow` or `?follow=true`: the capture continues with new traffic, without an end.'),
  });
}

type TrafficQuery = Partial<z.infer<ReturnType<typeof trafficQuery>>>;

export function filterOf(asked: TrafficQuery): TrafficFilter {
  const { line, unit, function: functions, address, host } = asked;
  const { direction, kind, rule, problems, since, until } = asked;
  return {
    lines: line && new Set(line),
    units: unit && new Set(unit.flatMap(numbersIn)),
    functions: functions && new Set(functions.flatMap(numbersIn)),
    addresses: address,
    hosts: host && new Set(host),
    directions: direction && new Set(direction),
    kinds: kind && new Set(kind),
    rules: rule && new Set(rule),
    problems:
      problems === 'ordered' || problems === 'unordered'
        ? problems
        : problems !== undefined && problems !== 'false',
    since,
    until,
  };
}

function numbersIn({ address, quantity }: AddressRange): number[] {
  return Array.from({ length: quantity }, (_, i) => address + i);
}

type ParsedItem<Item> = { readonly item: Item } | { readonly wrong: string };

/**
 * A list of values, separated by commas or given in several keys of the same name. A value itself may have
 * commas.
 */
function listOf<Item>(parse: (text: string) => ParsedItem<Item>) {
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

function parsedList<Item>(text: string, parse: (text: string) => ParsedItem<Item>): ParsedItem<Item>[] {
  const whole = parse(text);
  return 'item' in whole ? [whole] : text.split(',').map(parse);
}

/** A client's address. Lines come and go, so any text is accepted. */
function addressText(text: string): ParsedItem<string> {
  return isIPv4(text) ? { item: text } : { wrong: expectedMessage('an IPv4 address', text) };
}

/** A name of a rule. A rule that has acted may have been removed, so any name is accepted. */
function ruleName(text: string): ParsedItem<string> {
  return text.includes(',') ? { wrong: 'expected names of rules' } : { item: text };
}

function ranges(max: number, what: string) {
  return listOf((text): ParsedItem<AddressRange> => {
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
): ParsedItem<Choice> {
  const item = choices.find((each) => each === text);
  return item === undefined ? { wrong: unknownName(what, text, choices) } : { item };
}
