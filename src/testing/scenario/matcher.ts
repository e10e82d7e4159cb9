import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { type Condition, hintAtQuantities } from '../../device/faults/condition.js';
import { matchesRequest, type RequestFacts } from '../../device/faults/matching.js';
import { type NamedValue, resolveNames } from '../../device/faults/rule.js';
import { wordsOfValue } from '../../device/registers/value.js';
import { MAX_WORD } from '../../modbus/protocol/limits.js';
import { type DeviceValue, parseChange, valueNamed } from '../../simulator/commands/device-value.js';
import type { Simulator } from '../../simulator/simulator.js';
import { writtenBy } from '../../simulator/traffic/decode-request.js';
import { rangeText } from '../../simulator/traffic/words.js';
import type { MatcherSource } from './schema.js';
import { GOOD, type Seen } from './seen.js';

/** Registers or coils that a request has to write. */
interface WantedWrite {
  /** Name of the device; undefined for any device. */
  readonly device: string | undefined;
  /** The table; undefined for coils and holding registers alike. */
  readonly table: 'coils' | 'holding' | undefined;
  readonly address: number;
  /**
   * The words of registers, or coils as 0 and 1; undefined when only a name is given, and any value will do.
   */
  readonly words: readonly number[] | undefined;
  readonly quantity: number;
  /** For each word, the bits that matter; all of them when absent. */
  readonly mask?: readonly number[];
}

const EXPECTED = 'a name or names with values, as in {relay.coil: 1}, or addresses, as in {holding 5: 230}';
const ADDRESS = /^(?:(coils|holding) )?(\d{1,5})$/;

/** Reads `write`: values by name in their units, or words by address; a name alone for any value. */
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

/** Reads what a bit of a value has to be, as in {meter.status.overload: 1}: the other bits do not matter. */
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
    return at.wrong(`${name} is in the table ${table}, which no client can write`);
  }
  const owner = simulator.devices.get(device);
  const value = owner && valueNamed(owner, bit?.of ?? name.slice(device.length + 1));
  return value && { value, bit, write: { device, table, address, words: undefined, quantity } };
}

/** True when a request writes all that is wanted. */
function matchesWrite({ device, table, address, words, quantity, mask }: WantedWrite, seen: Seen): boolean {
  const written = writtenBy(seen.pdu);
  if (!written || (table !== undefined && written.table !== table)) return false;
  // A broadcast is for all devices of the line.
  if (device !== undefined && seen.device !== device && seen.event.kind !== 'broadcast') return false;
  const { values } = written;
  if (words === undefined) {
    const end = written.address + (values?.length ?? 1);
    return written.address < address + quantity && address < end;
  }
  return words.every((word, i) => {
    const found = values?.[address + i - written.address];
    if (mask === undefined) return found === word;
    const bits = mask[i] as number;
    return bits === 0 || (found !== undefined && (found & bits) === word);
  });
}

/** Describes the requests, or the replies, that are meant. */
export interface Matcher {
  /** The matcher in words, for messages: `a request with unit 1, function 3`. */
  readonly text: string;
  readonly condition: Pick<Condition, 'line' | 'unit' | 'function' | 'address' | 'quantity'>;
  /** The locations of the names in the condition; absent when it has no names. */
  readonly values?: readonly NamedValue[];
  /** Registers and coils that the request has to write, all of them. */
  readonly writes: readonly WantedWrite[];
  /** Exceptions of which one has to be the reply, or `GOOD`; absent when the reply does not matter. */
  readonly exceptions?: readonly number[];
}

/** The conditions of a matcher look at the name of a line and not at its abilities. */
const NONE: ReadonlySet<never> = new Set();

/** True when an event is meant: a reply when the matcher has `exceptions`, otherwise a request. */
export function matches({ condition, values, writes, exceptions }: Matcher, seen: Seen): boolean {
  if (exceptions === undefined ? seen.reply !== undefined : !isAnsweredBy(exceptions, seen)) return false;
  return (
    matchesRequest(condition, values, factsOf(seen)) && writes.every((write) => matchesWrite(write, seen))
  );
}

/** The facts of a request at which conditions look. */
function factsOf(seen: Seen): RequestFacts {
  return { ...seen, line: { name: seen.line, abilities: NONE } };
}

function isAnsweredBy(exceptions: readonly number[], { reply }: Seen): boolean {
  return reply?.exception !== undefined && exceptions.includes(reply.exception);
}

/** A request that is wanted, as a matcher or as the conditions of a fault rule. */
interface RequestWanted {
  readonly condition: Pick<Condition, 'line' | 'unit' | 'function' | 'address' | 'quantity'>;
  readonly values?: readonly NamedValue[];
  readonly writes?: Matcher['writes'];
  readonly exceptions?: Matcher['exceptions'];
}

/** Finds the request that came nearest to what was wanted, and which conditions it missed. */
export class NearestMiss {
  readonly #wanted: readonly RequestWanted[];
  #nearest: { readonly seen: Seen; readonly missed: readonly string[] } | undefined;

  constructor(wanted: readonly RequestWanted[]) {
    this.#wanted = wanted;
  }

  /** Looks at a request or a reply. Among equally near ones, the first counts. */
  see(seen: Seen): void {
    for (const wanted of this.#wanted) {
      if ((wanted.exceptions === undefined) !== (seen.reply === undefined)) continue;
      const missed = missedBy(wanted, seen);
      if (missed.length < (this.#nearest?.missed.length ?? Number.POSITIVE_INFINITY)) {
        this.#nearest = { seen, missed };
      }
    }
  }

  /**
   * Puts the result into words: `nearest was unit 1 read coils 0–7 (frame 12): function 1, not 3`.
   * @param met the words for a request that missed nothing
   * @returns undefined when nothing came
   */
  text(met: string): string | undefined {
    if (!this.#nearest) return undefined;
    const { seen, missed } = this.#nearest;
    const what = `${seen.text()} (frame ${seen.event.seq})`;
    return missed.length === 0 ? `${what} ${met}` : `nearest was ${what}: ${missed.join('; ')}`;
  }
}

/** Names the conditions that a request misses, each as `unit 5, not 1`. */
function missedBy({ condition, values, writes = [], exceptions }: RequestWanted, seen: Seen): string[] {
  const { line, unit, function: code, address, quantity } = condition;
  const facts = factsOf(seen);
  const ranges = seen.ranges.map((range) => rangeText(range.address, range.quantity)).join(' and ');
  const quantities = seen.ranges.map((range) => range.quantity).join(' and ');
  const { exception } = seen.reply ?? {};
  const isAnswered = exceptions === undefined || (exception !== undefined && exceptions.includes(exception));
  const parts: readonly (readonly [isMet: boolean, missed: () => string])[] = [
    [matchesRequest({ line }, undefined, facts), () => `line ${seen.line}, not ${oneOf(line)}`],
    [matchesRequest({ unit }, undefined, facts), () => `unit ${seen.unitId}, not ${oneOf(unit)}`],
    [
      matchesRequest({ function: code }, undefined, facts),
      () => `function ${seen.functionCode}, not ${oneOf(code)}`,
    ],
    [
      matchesRequest({ address }, undefined, facts),
      () => `${ranges === '' ? 'no address' : `address ${ranges}`}, not ${addressText(address)}`,
    ],
    [
      matchesRequest({}, values, facts),
      () => `${ranges === '' ? 'no address' : `address ${ranges}`}, not the address of the named value`,
    ],
    [
      matchesRequest({ quantity }, undefined, facts),
      () => `quantity ${quantities === '' ? 'none' : quantities}, not ${oneOf(quantity)}`,
    ],
    [writes.every((write) => matchesWrite(write, seen)), () => 'it does not write the expected values'],
    [isAnswered, () => `${answerText(exception)}, not ${wantedAnswer(exceptions)}`],
  ];
  return parts.flatMap(([isMet, missed]) => (isMet ? [] : [missed()]));
}

function oneOf(wanted: unknown): string {
  return [wanted].flat().join(' or ');
}

/** Puts wanted addresses into words: `0–9 or 20–29`. */
function addressText(wanted: Condition['address']): string {
  if (wanted === undefined || typeof wanted === 'number') return String(wanted);
  const pairs = (typeof wanted[0] === 'number' ? [wanted] : wanted) as readonly (readonly number[])[];
  return pairs.map((pair) => pair.join('–')).join(' or ');
}

function wantedAnswer(exceptions: Matcher['exceptions']): string {
  return exceptions?.includes(GOOD) ? 'with a good reply' : `with exception ${exceptions?.join(' or ')}`;
}

function answerText(exception: number | undefined): string {
  if (exception === undefined) return 'not answered';
  return exception === GOOD ? 'answered without an exception' : `answered with exception ${exception}`;
}

/** Keys that are not listed in the text of a matcher: they say how often and when, or are worded apart. */
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
 * Makes the matcher written at `at`, whose schema has been checked. Undefined after reporting what this
 * simulator does not have.
 */
export function toMatcher(
  at: At,
  { write, response, line, unit, function: code, address, name, quantity }: MatcherSource,
  simulator: Simulator,
): Matcher | undefined {
  return at.unlessWrong(() => {
    for (const each of line === undefined ? [] : [line].flat()) {
      if (!simulator.lines.has(each))
        at.key('line').wrong(unknownName('line', each, [...simulator.lines.keys()]));
    }
    if (address !== undefined && name !== undefined) at.wrong('expected either address or name');
    hintAtQuantities(quantity, at.key('quantity'));
    const named = resolveNames({ name: 'expect', when: { name }, faults: [] }, simulator.findValue);
    if (!named.ok) at.key('name').wrong(named.error.message);
    const writes = write === undefined ? [] : readWrites(at.key('write'), simulator);
    return {
      text: matcherText(at.value),
      condition: { line, unit, function: code, address, quantity },
      ...(named.ok && named.value.values && { values: named.value.values }),
      writes: writes ?? [],
      ...(response && { exceptions: response === 'ok' ? [GOOD] : [response.exception].flat() }),
    };
  });
}

/** Puts checked input into words: `a request with unit 1, function 3 or 4`. */
function matcherText(input: unknown): string {
  // What is no mapping was reported, and is put into words all the same.
  const source: Readonly<Record<string, unknown>> = isMapping(input) ? input : {};
  const parts = Object.entries(source)
    .filter(([key]) => !NOT_OF_REQUESTS.has(key))
    .map(([key, value]) => `${key} ${listText(key, value)}`);
  const write = writeText(source.write);
  const of = parts.length === 0 ? '' : ` ${write === undefined ? 'with' : 'to'} ${parts.join(', ')}`;
  return `${write ?? 'a request'}${of}${responseText(source.response)}`;
}

function listText(key: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  if (key === 'address') return addressText(value as Condition['address']);
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
