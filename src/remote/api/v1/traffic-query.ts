import { z } from 'zod';
import { unknownName } from '../../../common/schema/nearest.js';
import { oneOf, section, UNLIMITED, wholeNumber } from '../../../common/schema/parts.js';
import { duration, moment } from '../../../common/schema/units.js';
import { inQuery } from '../../../simulator/commands/schemas/value.js';
import { FIELDS, type FilterContext, fieldNamed, valuesOf } from '../../../simulator/filter/fields.js';
import type { FieldName, Filter, Test } from '../../../simulator/filter/filter.js';
import { MOST_CHARACTERS, mistakeText, parseFilter } from '../../../simulator/filter/parse.js';
import { FORM_NAMES } from '../../../simulator/traffic/capture/packet.js';

const SEVERAL = 'Separate several with commas.';
const MOMENT = 'A time in ISO 8601, or how long ago: `30s`.';

/** The filters of every list of traffic. Each is a part of a filter; all must match. */
function filterShape(lines: readonly string[]) {
  const refuse: FilterContext['refuse'] = (field, text) => {
    const known = field === 'line' ? lines : FIELDS[field].choices;
    const isKnown = !known || known.includes(text) || known.includes(text.replaceAll('-', ' '));
    return isKnown ? undefined : unknownName(field, text, known);
  };
  const several = (name: string, about: string) =>
    listOf(fieldNamed(name) ?? 'text', { refuse }).describe(`${about} ${SEVERAL}`);
  const shape = {
    filter: z
      .string()
      .max(MOST_CHARACTERS, { error: `a filter of at most ${MOST_CHARACTERS} characters` })
      .transform((text, context): Filter => {
        const parsed = parseFilter(text, { now: Date.now(), refuse });
        if (parsed.ok) return parsed.value.filter;
        context.issues.push({ code: 'custom', input: text, message: mistakeText(parsed.error) });
        return z.NEVER;
      })
      .optional()
      .describe(
        'A filter expression, such as `unit=1 fc=3 addr=0-9 not rule:slow late>50ms`. docs/filter.md lists its fields.',
      ),
    line: several('line', 'Names of lines.'),
    unit: several('unit', 'Unit identifiers or ranges of them.'),
    function: several('function', 'Function codes or ranges of them.'),
    address: several('address', 'Addresses or ranges of them; one match is enough.'),
    host: several('host', 'Local addresses that clients connected to, on lines with several (`tcp.hosts`).'),
    rule: several('rule', 'Names of fault rules that acted.'),
    since: moment.optional().describe(`Only events from this moment on. ${MOMENT}`),
    until: moment.optional().describe(`Only events up to this moment. ${MOMENT}`),
  };
  return { shape, several };
}

export function eventShape(lines: readonly string[]) {
  const { several, shape } = filterShape(lines);
  return {
    ...shape,
    direction: several('direction', '`in`, `out` or `none`.'),
    kind: several('kind', 'Kinds of events.'),
    problems: z
      .literal(['', 'true', 'false', 'ordered', 'unordered'], {
        error: 'true, false, ordered or unordered',
      })
      .optional()
      .describe(
        '`true`: only problems: damage, collisions, dropped requests, and replies that are exceptions, changed by a fault or missing. `ordered`: of these, only those that fault rules caused; `unordered`: only the others.',
      ),
  };
}

function pageShape(maxLimit: number, what: string) {
  return {
    limit: inQuery(wholeNumber(1, maxLimit)).default(100).describe('The maximum number of rows.'),
    after: afterIn(what)
      .optional()
      .describe('Only rows with higher sequence numbers, oldest first. Default: the newest rows.'),
    wait: inQuery(duration(0, LONGEST_WAIT_MS))
      .default(0)
      .describe(
        'How long to wait for the first row: `5s`, at most 20 s. The answer is sent as soon as there is a row, or empty when the time is up.',
      ),
  };
}

/** A limit to events after a sequence number. */
function afterIn(what: string) {
  return inQuery(wholeNumber(0, UNLIMITED, what));
}

/** The parameters for the start of an event stream. */
export function streamStart() {
  return afterIn('a sequence number')
    .optional()
    .describe('Begins after the event with this sequence number.');
}

/** Maximum time to wait for traffic, in ms. A connection is closed if no byte of an answer could be sent for 30 s. */
const LONGEST_WAIT_MS = 20_000;

const MAX_EVENTS = 100_000;
const MAX_EXCHANGES = 1000;

/** The query of `/traffic`. @param lines names of current and former lines; the list may grow */
export function trafficQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    ...pageShape(MAX_EVENTS, 'a sequence number'),
    format: oneOf(['json', 'ndjson', 'csv']).optional().describe('The format of the answer.'),
  });
}

export function exchangesQuery(lines: readonly string[]) {
  return section({
    ...filterShape(lines).shape,
    ...pageShape(MAX_EXCHANGES, 'the identifier of an exchange'),
  });
}

/** The kinds of messages of `/events`. */
const MESSAGES = ['traffic', 'summary', 'sums'] as const;

export function eventsQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    after: streamStart(),
    tell: z
      .union([z.string(), z.array(z.string())])
      .transform((input, { issues }) => {
        const asked = [input].flat().flatMap((text) => text.split(','));
        const unknown = asked.find((each) => !MESSAGES.some((name) => name === each));
        if (unknown !== undefined)
          issues.push({ code: 'custom', input, message: unknownName('message', unknown, MESSAGES) });
        return asked;
      })
      .optional()
      .describe(
        'Which messages to send: `traffic` (default); `summary`, the state of everything, once a second; and `sums`, the traffic of each second. ' +
          SEVERAL,
      ),
  });
}

export function captureQuery(lines: readonly string[]) {
  return section({
    ...eventShape(lines),
    after: streamStart(),
    form: oneOf(FORM_NAMES).default('wire').describe('How the frames are stored: see docs/captures.md.'),
    follow: z
      .literal(['', 'true', 'false'], { error: 'true or false' })
      .default('false')
      .describe('`?follow` or `?follow=true`: the capture continues with new traffic and never ends.'),
  });
}

type TrafficQuery = Partial<z.infer<ReturnType<typeof trafficQuery>>>;

/** The filter that a query describes; undefined if it wants everything. */
export function filterOf(asked: TrafficQuery): Filter | undefined {
  const { filter, line, unit, function: functions, address, host, direction, kind, rule } = asked;
  const { problems, since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = asked;
  const parts = [filter, line, unit, functions, address, host, direction, kind, rule];
  const all: Filter[] = parts.filter((part) => part !== undefined);
  if (asked.since !== undefined || asked.until !== undefined)
    all.push({ field: 'since', ranges: [[Math.round(1000 * since), Math.round(1000 * until)]] });
  if (problems === 'ordered' || problems === 'unordered') all.push({ field: 'problem', texts: [problems] });
  else if (problems !== undefined && problems !== 'false') all.push({ field: 'problem', any: true });
  return all.length === 0 ? undefined : { all };
}

/**
 * The values of a field, separated by commas or in several keys with the same name. A line name may itself
 * contain commas.
 */
function listOf(field: FieldName, context: FilterContext = {}) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((input, { issues }): Test => {
      const found = [input].flat().flatMap((text) => {
        const whole = field === 'line' ? valuesOf(field, [text], '=', context) : undefined;
        return whole?.ok
          ? [whole]
          : text.split(',').map((each) => valuesOf(field, [each.trim()], '=', context));
      });
      for (const each of found) if (!each.ok) issues.push({ code: 'custom', input, message: each.error });
      const values = found.flatMap((each) => (each.ok ? [each.value] : []));
      const texts = values.flatMap((each) => ('texts' in each ? each.texts : []));
      const ranges = values.flatMap((each) => ('ranges' in each ? each.ranges : []));
      return texts.length > 0 ? { field, texts } : { field, ranges };
    })
    .optional();
}
