import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { quote } from '../../common/schema/problem.js';
import { type Condition, hintAtQuantities, rangesOf } from '../../device/faults/condition.js';
import { pairs } from '../../device/faults/matching.js';
import { type NamedValue, resolveNames } from '../../device/faults/rule.js';
import { wordsOfValue } from '../../device/registers/value.js';
import { MAX_WORD } from '../../modbus/protocol/limits.js';
import { type DeviceValue, parseChange, valueNamed } from '../../simulator/commands/device-value.js';
import { placesNamed } from '../../simulator/commands/shown-values.js';
import { FIELDS, type FilterContext } from '../../simulator/filter/fields.js';
import {
  type FieldName,
  type Filter,
  matches as fits,
  GOOD,
  type NumberRange,
  type Test,
  testsIn,
  type WantedWrite,
} from '../../simulator/filter/filter.js';
import { mistakeText, parseFilter } from '../../simulator/filter/parse.js';
import type { Simulator } from '../../simulator/simulator.js';
import { DIRECTION_OF } from '../../simulator/traffic/event.js';
import { type DevicesInFilters, EventFacts } from '../../simulator/traffic/facts.js';
import { micros, rangeText } from '../../simulator/traffic/words.js';
import type { MatcherSource } from './schema.js';
import type { Seen } from './seen.js';

const EXPECTED = 'a name or names with values, as in {relay.coil: 1}, or addresses, as in {holding 5: 230}';
const ADDRESS = /^(?:(coils|holding) )?(\d{1,5})$/;

/** Reads `write`: values by name in their units, or words by address; a name alone matches any value. */
function readWrites(at: At, simulator: Simulator): WantedWrite[] | undefined {
  if (typeof at.value === 'string') {
    const wanted = readName(at.value, at, simulator);
    return wanted && [wanted.write];
  }
  if (!isMapping(at.value)) return at.expected(EXPECTED);
  return at.unlessWrong(() =>
    (at.entries(EXPECTED) ?? []).flatMap(([key, content]) => readEntry(key, content, simulator) ?? []),
  );
}

function readEntry(key: string, at: At, simulator: Simulator): WantedWrite | undefined {
  const found = ADDRESS.exec(key);
  if (!found) return readNamedValue(key, at, simulator);
  const address = Number(found[2]);
  if (address > MAX_WORD) return at.wrong(`expected an address from 0 to ${MAX_WORD}`);
  const words = [at.value].flat();
  if (words.length === 0 || !words.every(isWord)) {
    return at.expected(`a whole number from 0 to ${MAX_WORD}, or a list of them`);
  }
  const table = found[1] as 'coils' | 'holding' | undefined;
  return { device: undefined, table, address, words, quantity: words.length };
}

function isWord(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_WORD;
}

function readNamedValue(name: string, at: At, simulator: Simulator): WantedWrite | undefined {
  const named = readName(name, at, simulator);
  if (named?.bit !== undefined) return readBit(named.write, named.value, named.bit.number, at);
  const change = named && parseChange(named.value, at.value, false);
  if (!named || !change) return undefined;
  if (!change.ok) return at.expected(change.error);
  const { image, location } = named.value;
  const words = wordsOfValue(location.type, change.value, location.cells, image.orderAt(location.address));
  return { ...named.write, words };
}

/** Reads a condition on one bit of a value, as in {meter.status.overload: 1}; the other bits do not matter. */
function readBit(
  write: WantedWrite,
  { image, location }: DeviceValue,
  bit: number,
  at: At,
): WantedWrite | undefined {
  if (![0, 1, true, false].includes(at.value as number)) return at.expected('0, 1, true or false');
  const order = image.orderAt(location.address);
  const wordsOf = (isOn: boolean) =>
    wordsOfValue(location.type, isOn ? 1n << BigInt(bit) : 0n, location.cells, order);
  return { ...write, words: wordsOf(Boolean(at.value)), mask: wordsOf(true) };
}

/** Finds a value by its name, such as `meter.voltage`. */
function readName(name: string, at: At, simulator: Simulator) {
  const found = simulator.findValue(name);
  if (!found.ok) return at.wrong(found.error);
  const { device, table, address, quantity, bit } = found.value;
  if (table !== 'coils' && table !== 'holding') {
    return at.wrong(`${name} is in the table ${table}, which clients can't write`);
  }
  const owner = simulator.devices.get(device);
  const value = owner && valueNamed(owner, bit?.of ?? name.slice(device.length + 1));
  return value && { value, bit, write: { device, table, address, words: undefined, quantity } };
}

/** A condition that selects requests or replies. */
export interface Matcher {
  /** The condition in words, for messages: `a request with unit 1, function 3`. */
  readonly text: string;
  /** The conditions, all of which must be met. */
  readonly wanted: readonly Filter[];
  /** The places that the names in it stand for. */
  readonly places: DevicesInFilters['places'];
  /** Whether it selects replies rather than requests. */
  readonly isOfReplies: boolean;
}

/** True if an event meets the conditions. */
export function matches({ wanted, places, isOfReplies }: Matcher, seen: Seen): boolean {
  return isOfReplies === (seen.reply !== undefined) && meets({ all: wanted }, places, seen);
}

function meets(filter: Filter, places: DevicesInFilters['places'], seen: Seen): boolean {
  const { event, line, unitId: unit, functionCode, device } = seen;
  const { kind, time } = event;
  const direction = DIRECTION_OF[kind];
  const more = new EventFacts(event, () => undefined, { deviceOf: () => device, places });
  return fits(filter, { line, kind, direction, timeUs: micros(time), unit, functionCode, more }) === true;
}

/** Finds the request that came closest to meeting the conditions, and which ones it missed. */
export class NearestMiss {
  readonly #wanted: readonly Omit<Matcher, 'text'>[];
  #nearest: { readonly seen: Seen; readonly missed: readonly string[] } | undefined;

  constructor(wanted: readonly Omit<Matcher, 'text'>[]) {
    this.#wanted = wanted;
  }

  /** Looks at a request or a reply. Among equally close ones, the first is kept. */
  see(seen: Seen): void {
    for (const wanted of this.#wanted) {
      if (wanted.isOfReplies !== (seen.reply !== undefined)) continue;
      const missed = missedBy(wanted, seen);
      if (missed.length < (this.#nearest?.missed.length ?? Number.POSITIVE_INFINITY)) {
        this.#nearest = { seen, missed };
      }
    }
  }

  /**
   * Puts the result into words: `nearest was unit 1 read coils 0–7 (frame 12): function 1, not 3`.
   * @param met the words for a request that missed nothing
   * @returns undefined if nothing came
   */
  text(met: string): string | undefined {
    if (!this.#nearest) return undefined;
    const { seen, missed } = this.#nearest;
    const what = `${seen.text()} (frame ${seen.event.seq})`;
    return missed.length === 0 ? `${what} ${met}` : `nearest was ${what}: ${missed.join('; ')}`;
  }
}

/** Names the conditions that a request misses, each as `unit 5, not 1`. */
function missedBy({ wanted, places }: Omit<Matcher, 'text'>, seen: Seen): string[] {
  return wanted.flatMap((each) => (meets(each, places, seen) ? [] : [missedText(each, seen)]));
}

function missedText(wanted: Filter, { line, unitId, functionCode, device, ranges, reply }: Seen): string {
  const field = 'field' in wanted ? wanted.field : undefined;
  const asked = ranges.map((range) => rangeText(range.address, range.quantity)).join(' and ');
  const address = asked === '' ? 'no address' : `address ${asked}`;
  const among = 'texts' in wanted ? wanted.texts.join(' or ') : '';
  const numbers = 'ranges' in wanted ? rangesText(wanted.ranges, field === 'addr' ? '–' : '-') : 'any';
  switch (field) {
    case 'line':
      return `line ${line}, not ${among}`;
    case 'device':
      return `device ${device || 'none'}, not ${among}`;
    case 'unit':
      return `unit ${unitId}, not ${numbers}`;
    case 'fc':
      return `function ${functionCode}, not ${numbers}`;
    case 'addr':
      return `${address}, not ${numbers}`;
    case 'name':
      return `${address}, not the address of the named value`;
    case 'quantity':
      return `quantity ${ranges.map(({ quantity }) => quantity).join(' and ') || 'none'}, not ${numbers}`;
    case 'exception': {
      const isGood = numbers === String(GOOD);
      return `${answerText(reply?.exception)}, not with ${isGood ? 'a good reply' : `exception ${numbers}`}`;
    }
    default:
      return 'field' in wanted && 'writes' in wanted
        ? 'it does not write the expected values'
        : `it does not pass the filter${field === undefined ? '' : `: ${field}`}`;
  }
}

/** Formats ranges of numbers: `0–9 or 20–29`. */
function rangesText(ranges: readonly NumberRange[], to: string): string {
  return ranges.map(([first, last]) => (first === last ? first : `${first}${to}${last}`)).join(' or ');
}

function answerText(exception: number | undefined): string {
  if (exception === undefined) return 'not answered';
  return exception === GOOD ? 'answered without an exception' : `answered with exception ${exception}`;
}

/** The name that stands for the places of all names in a condition. */
const ITS_VALUES = 'its values';

type RequestCondition = Pick<Condition, 'line' | 'device' | 'unit' | 'function' | 'address' | 'quantity'>;

/** What the conditions of a fault rule, or of an expectation, require of a request. */
export function ofRequests(
  { line, device, unit, function: code, address, quantity }: RequestCondition,
  values?: readonly NamedValue[],
): Omit<Matcher, 'text'> {
  const tests: readonly (Test | undefined)[] = [
    line === undefined ? undefined : { field: 'line', texts: [line].flat() },
    device === undefined ? undefined : { field: 'device', texts: [device].flat() },
    unit === undefined ? undefined : { field: 'unit', ranges: rangesOf(unit) },
    code === undefined ? undefined : { field: 'fc', ranges: rangesOf(code) },
    address === undefined ? undefined : { field: 'addr', ranges: pairs(address) },
    values && { field: 'name', texts: [ITS_VALUES] },
    quantity === undefined ? undefined : { field: 'quantity', ranges: rangesOf(quantity) },
  ];
  const places = new Map([
    [ITS_VALUES, (values ?? []).map((each) => ({ ...each, numberIn: () => undefined }))],
  ]);
  return { wanted: tests.filter((test) => test !== undefined), places, isOfReplies: false };
}

/** Keys that do not appear in a matcher's text: they are about frequency and time, or are worded separately. */
const NOT_OF_REQUESTS = new Set([
  'same',
  'retry',
  'times',
  'after',
  'every',
  'tolerance',
  'for',
  'response',
  'write',
]);

/**
 * Makes the matcher written at `at`, whose schema has been checked. Undefined after reporting anything that
 * this simulator does not have.
 */
export function toMatcher(
  at: At,
  { filter, write, response, ...condition }: MatcherSource,
  simulator: Simulator,
): Matcher | undefined {
  return at.unlessWrong(() => {
    const { line, address, name, quantity } = condition;
    for (const each of line === undefined ? [] : [line].flat()) {
      if (!simulator.lines.has(each))
        at.key('line').wrong(unknownName('line', each, [...simulator.lines.keys()]));
    }
    if (address !== undefined && name !== undefined) at.wrong('expected either address or name');
    hintAtQuantities(quantity, at.key('quantity'));
    const named = resolveNames({ name: 'expect', when: { name }, faults: [] }, simulator.findValue);
    if (!named.ok) at.key('name').wrong(named.error.message);
    const writes = write === undefined ? [] : readWrites(at.key('write'), simulator);
    const parsed = filter === undefined ? undefined : readFilter(at.key('filter'), filter, simulator);
    const { wanted, places } = ofRequests(condition, named.ok ? named.value.values : undefined);
    const exceptions = response && (response === 'ok' ? [GOOD] : [response.exception].flat());
    return {
      text: matcherText(at.value),
      wanted: [
        ...wanted,
        ...(writes ?? []).map((write): Test => ({ field: 'value', writes: write })),
        ...(exceptions
          ? [{ field: 'exception', ranges: exceptions.map((code): NumberRange => [code, code]) } as const]
          : []),
        ...(parsed?.wanted ?? []),
      ],
      places: new Map([...places, ...(parsed?.places ?? [])]),
      isOfReplies: exceptions !== undefined || parsed?.isOfReplies === true,
    };
  });
}

/** The fields that only replies have. */
const OF_REPLIES: ReadonlySet<FieldName> = new Set(['exception', 'late', 'rule', 'problem']);

/** Reads the text of a filter. It selects replies if it uses fields that only they have. */
function readFilter(at: At, text: string, simulator: Simulator) {
  const refuse: FilterContext['refuse'] = (field, each) => {
    if (field === 'line' && !simulator.lines.has(each))
      return unknownName('line', each, [...simulator.lines.keys()]);
    return FIELDS[field].takes === 'moment'
      ? `expected another field: a scenario has no ${field}`
      : undefined;
  };
  const parsed = parseFilter(text, { refuse, now: 0 });
  if (!parsed.ok) return at.wrong(mistakeText(parsed.error));
  const wanted = parsed.value.filter;
  const tests = testsIn(wanted);
  const names = tests.flatMap((test) =>
    'name' in test ? test.name : test.field === 'name' && 'texts' in test ? test.texts : [],
  );
  const places = new Map(names.map((name) => [name, placesNamed(simulator.devices, name)]));
  for (const [name, found] of places)
    if (found.length === 0) at.wrong(`no device has a value named ${quote(name)}`);
  const isOfReplies = tests.some(
    (test) => OF_REPLIES.has(test.field) || ('texts' in test && ['reply', 'out'].includes(test.texts.join())),
  );
  return { wanted: 'all' in wanted ? wanted.all : [wanted], places, isOfReplies };
}

/** Describes checked input in words: `a request with unit 1, function 3 or 4`. */
function matcherText(input: unknown): string {
  // Input that is not a mapping has been reported, and is described anyway.
  const source: Readonly<Record<string, unknown>> = isMapping(input) ? input : {};
  const parts = Object.entries(source)
    .filter(([key]) => !NOT_OF_REQUESTS.has(key))
    .map(([key, value]) => (key === 'filter' ? String(value) : `${key} ${listText(key, value)}`));
  const write = writeText(source.write);
  const of = parts.length === 0 ? '' : ` ${write === undefined ? 'with' : 'to'} ${parts.join(', ')}`;
  return `${write ?? 'a request'}${of}${responseText(source.response)}`;
}

function listText(key: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  if (key === 'address') return rangesText(pairs(value as [number, number]), '–');
  return value.join(' or ');
}

function writeText(write: unknown): string | undefined {
  if (write === undefined) return undefined;
  if (typeof write === 'string') return `a write of ${write}`;
  const parts = Object.entries(write as object).map(([key, value]) => `${key} = ${String(value)}`);
  return `a write of ${parts.join(', ')}`;
}

function responseText(response: unknown): string {
  if (response === 'ok') return ', answered well';
  const { exception } = (response ?? {}) as { readonly exception?: unknown };
  return exception === undefined ? '' : `, answered with exception ${[exception].flat().join(' or ')}`;
}
