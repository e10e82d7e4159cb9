import { default as fc } from 'fast-check';
import type { z } from 'zod';
import { MAX_SEED, randomAt } from '../../common/random.js';
import { DURATION } from '../../common/schema/milliseconds.js';
import { isMapping } from '../../common/schema/parts.js';
import { type JsonSchema, SchemaConverter } from '../../common/schema/written-as.js';
import type { Work } from '../../common/work.js';
import { writtenFault } from '../../device/faults/kinds.js';
import { lineProblems, ruleSchema } from '../../device/faults/rule.js';
import { knownEntry } from '../../document/catalogue.js';
import { catalogueIds } from '../../document/catalogue-files.js';
import { mannersSchema } from '../../document/native/manners-schema.js';
import { MAX_WORD } from '../../modbus/protocol/limits.js';
import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import { conditionsOf, type Poll, wentWell } from '../client/heard/exchange.js';
import { EntryPlayer } from '../client/trial/entry-player.js';
import { type PolledLine, pduOf } from '../tested-line.js';
import { type Move, type Schedule, stepOf, type WrittenActions } from './move.js';

/*
 * Arbitraries of fast-check from the schemas of files: what a schema documents is what is tried. A number
 * without a limit, and a time, get one here, because every move has to end soon.
 */

/** The longest time that is written, in ms; most are much shorter. */
const LONGEST_MS = 5_000;
/** The largest number where the schema has no limit, and where a time stands beside it, as for copies. */
const LARGEST = 300;
const FEW = 4;
/** Numbers up to this one are no times: percent and probabilities. */
const SHARE = 100;
const LONGEST_TEXT = 64;
const MOST_ITEMS = 16;

const PREFIX = '#/';

/** Makes an arbitrary of what a person may write for a schema. It may make what a refinement refuses. */
function written(schema: z.ZodType): fc.Arbitrary<unknown> {
  const converter = new SchemaConverter('draft-2020-12', PREFIX);
  const json = converter.convert(schema, 'input');
  return arbitraryOf(json, ($ref) => converter.definitions[$ref.slice(PREFIX.length)] ?? {}, LARGEST);
}

function arbitraryOf(
  schema: JsonSchema,
  resolve: (ref: string) => JsonSchema,
  largest: number,
): fc.Arbitrary<unknown> {
  const of = (part: JsonSchema) => arbitraryOf(part, resolve, largest);
  const { $ref, anyOf, oneOf, const: only, enum: several, type, pattern } = schema;
  if ($ref !== undefined) return of(resolve($ref));
  const choices = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  // A time is a number or a text; the number says it all.
  if (choices) return fc.oneof(...choices.filter((each) => each.pattern !== DURATION.source).map(of));
  if (several) return fc.constantFrom(...several);
  if (only !== undefined) return fc.constant(only);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return integer(schema, largest);
  if (type === 'number') return time(schema);
  if (type === 'string') return text(pattern);
  if (type === 'array') {
    const { items, minItems = 0, maxItems = MOST_ITEMS } = schema;
    const bounds = { minLength: minItems, maxLength: Math.min(maxItems, MOST_ITEMS) };
    return fc.array(of((items ?? {}) as JsonSchema), bounds);
  }
  if (type !== 'object') return fc.constant(true);
  const { properties = {}, required = [] } = schema;
  const parts = Object.entries(properties as Record<string, JsonSchema>);
  const hasTime = parts.some(([, part]) => isTime(part));
  const arbitraries = parts.map(([key, part]) => [key, arbitraryOf(part, resolve, hasTime ? FEW : largest)]);
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys: required as never[] });
}

function integer({ minimum = 0, maximum }: JsonSchema, largest: number): fc.Arbitrary<unknown> {
  const max = maximum === undefined || maximum > MAX_WORD ? Math.max(minimum, largest) : maximum;
  const few = Math.min(max, minimum + 2 * FEW);
  return fc.oneof(fc.integer({ min: minimum, max: few }), fc.integer({ min: minimum, max }));
}

function isTime({ anyOf = [] }: JsonSchema): boolean {
  return (anyOf as readonly JsonSchema[]).some(({ pattern }) => pattern === DURATION.source);
}

/** Times of all sizes: as many from 1 to 10 ms as from 100 ms to 1 s. */
function time({ minimum = 0, maximum = LONGEST_MS }: JsonSchema): fc.Arbitrary<unknown> {
  if (maximum <= SHARE) return fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
  const most = Math.log(Math.min(maximum, LONGEST_MS));
  return fc.integer({ min: 0, max: 1000 }).map((share) => {
    return Math.max(minimum, Number(Math.exp((share / 1000) * most).toPrecision(2)));
  });
}

function text(pattern: string | undefined): fc.Arbitrary<unknown> {
  if (pattern === undefined) return fc.constantFrom('a');
  if (!pattern.includes('[0-9a-fA-F]{2}')) return fc.stringMatching(new RegExp(pattern));
  return fc.uint8Array({ minLength: 1, maxLength: LONGEST_TEXT }).map((bytes) =>
    Buffer.from(bytes)
      .toString('hex')
      .replaceAll(/..(?=.)/g, '$& '),
  );
}

interface Played {
  readonly simulator: Simulator;
  readonly line: Line;
  readonly about: PolledLine;
  /** The unit whose requests are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  readonly polls: readonly Poll[];
  /** The poll that comes most often. */
  readonly target: Poll;
  /** The device whose register shows what the client has read. It would forget that without its power. */
  readonly showing: string | undefined;
}

/**
 * Kinds of faults by what they are to a client. First a group is drawn, and then a kind of it, so that
 * a combination of two or three things is met soon.
 */
const FAULTS: readonly (readonly string[])[] = [
  ['delay', 'coalesce', 'early'],
  ['silence', 'truncate'],
  ['corrupt', 'crc', 'extend', 'noise', 'drop', 'insert', 'junk', 'split', 'gap', 'break', 'echo', 'mbap'],
  ['exception', 'pdu'],
  ['unit', 'function', 'byteCount', 'transaction', 'stale', 'duplicate'],
  ['values', 'change'],
  ['close'],
];

/** Values that devices send where they have none: all ones, the smallest number, NaN, zero. */
const NO_VALUES: readonly (readonly number[])[] = [
  [0xffff, 0xffff],
  [0x8000, 0],
  [0x7fc0, 0],
  [0, 0],
  [0x7fff, 0xffff],
];

const MOST_MOVES = 5;
const LONGEST_MOVE = 8;
/** The usual and the longest time between two moves, in requests: longer ones seldom matter. */
const USUAL_PAUSE = 3;
const LONGEST_PAUSE = 12;
/** How often a kind is drawn to see whether this line can do it. */
const TRIES = 12;

/**
 * Makes a deck for a line and its client. Yields after each kind of move that was tried on them: all of it
 * takes a third of a second.
 */
export function* makingDeck(played: Played, seed: number): Work<Deck> {
  const move = fc.record<Move>({
    after: fc.oneof({ weight: 3, arbitrary: fc.nat(USUAL_PAUSE) }, fc.nat(LONGEST_PAUSE)),
    requests: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: LONGEST_MOVE })),
    does: fc.oneof(...(yield* groupsFor(played))),
  });
  return new Deck(fc.array(move, { minLength: 1, maxLength: MOST_MOVES, size: 'max' }), seed);
}

/** Draws schedules of moves. The same seed draws the same schedules. */
class Deck {
  readonly #schedules: fc.Arbitrary<Schedule>;
  readonly #seed: number;

  constructor(schedules: fc.Arbitrary<Schedule>, seed: number) {
    this.#schedules = schedules;
    this.#seed = seed;
  }

  schedule(number: number): Schedule {
    const seed = Math.floor(randomAt(this.#seed, number) * (MAX_SEED + 1)) | 0;
    const [drawn] = fc.sample(this.#schedules, { seed, numRuns: 1 }) as [Schedule];
    return drawn;
  }
}

/** The groups of moves that this line can do. */
function* groupsFor(played: Played): Work<fc.Arbitrary<WrittenActions>[]> {
  const faults = yield* faultsFor(played);
  const grouped = new Set(FAULTS.flat());
  const others = [...faults.keys()].filter((kind) => !grouped.has(kind));
  const groups = [...FAULTS, others].map((kinds) => kinds.flatMap((kind) => faults.get(kind) ?? []));
  for (const movesOf of [suppliesOf, closingsOf, unsolicitedOf, mannersOf, entriesFor]) {
    const able = [];
    for (const actions of movesOf(played)) {
      if (actions) able.push(...fitting(actions, played));
      yield;
    }
    groups.push(able);
  }
  return groups.flatMap((group) => (group.length > 0 ? [fc.oneof(...group)] : []));
}

/** The arbitrary without what this simulator can't do; none when that is everything. */
function fitting(
  actions: fc.Arbitrary<WrittenActions>,
  { simulator }: Played,
): fc.Arbitrary<WrittenActions>[] {
  const fits = (does: WrittenActions) => stepOf({ after: 0, requests: 1, does }, simulator) !== undefined;
  // A kind that never fits would be drawn for ever.
  const isAble = fc.sample(actions, { seed: 1, numRuns: TRIES }).some(fits);
  return isAble ? [actions.filter(fits)] : [];
}

/** Arbitraries of steps with one fault, by its kind. */
function* faultsFor(played: Played): Work<Map<string, fc.Arbitrary<WrittenActions>>> {
  const { line, target, unitId } = played;
  const about = { line: line.name, ...(unitId !== undefined && { unit: unitId }) };
  const when = fc.constantFrom(about, about, { line: line.name, ...conditionsOf(target) });
  const seed = fc.integer({ min: 0, max: MAX_SEED });
  const stepWith = (kind: string, parameters: fc.Arbitrary<unknown>) =>
    fc.record({ when, parameters, seed }).map(({ when, parameters, seed }) => ({
      fault: { when, do: [{ [kind]: parameters }], seed },
    }));
  const able = (written: unknown) => {
    const rule = ruleSchema.safeParse({ name: 'move', do: [written] });
    return rule.success && lineProblems(rule.data, [line.bus.line]).length === 0;
  };
  const kinds = new Map<string, fc.Arbitrary<WrittenActions>>();
  for (const option of writtenFault.options) {
    const [kind, schema] = Object.entries(option.shape)[0] as [string, (typeof option.shape)[string]];
    const parameters = written(schema);
    const can = (each: unknown) => able({ [kind]: each }) && pausesIn(each) <= LONGEST_MS;
    const isAble = fc.sample(parameters, { seed: 1, numRuns: TRIES }).some(can);
    yield;
    if (!isAble) continue;
    const usable = parameters.filter(can);
    const special = kind === 'values' ? [fc.constantFrom(...NO_VALUES)] : [];
    kinds.set(kind, stepWith(kind, fc.oneof(usable, ...special)));
  }
  return kinds;
}

/** How many pieces a short reply has when it is cut before each byte. */
const PIECES = 16;

/** How long the pauses of a reply are together, in ms. A connection carries no other reply meanwhile. */
function pausesIn(parameters: unknown): number {
  if (!isMapping(parameters) || typeof parameters.gap !== 'number') return 0;
  const { gap, times, at } = parameters;
  return gap * (typeof times === 'number' ? times : at === 'each' ? PIECES : 1);
}

/** The devices that a client asks. */
function devicesOf({ line, unitId, polls }: Played): string[] {
  const units = unitId === undefined ? polls.map((each) => each.unitId) : [unitId];
  return [...new Set(units.flatMap((unit) => line.bus.deviceAt(unit)?.name ?? []))];
}

/** The power of a device fails. */
function suppliesOf(played: Played): fc.Arbitrary<WrittenActions>[] {
  const others = devicesOf(played).filter((name) => name !== played.showing);
  return others.map((name) => fc.constant({ power: { [name]: 'off' } }));
}

/** The line closes its connections, and refuses new ones. */
function closingsOf({ line, about }: Played): fc.Arbitrary<WrittenActions>[] {
  return about.kind === 'tcp' || about.kind === 'tls' ? [fc.constant({ closed: line.name })] : [];
}

/** The line sends bytes that nobody asked for: random ones, or the last good reply once more. */
function unsolicitedOf({ line, target }: Played): fc.Arbitrary<WrittenActions>[] {
  const good = target.asked.findLast(wentWell);
  const pdu = good?.reply && pduOf(good.reply);
  const again =
    good?.reply && pdu && good.reply.framing.encode({ transactionId: 0, unitId: target.unitId, pdu });
  const random = fc.uint8Array({ minLength: 1, maxLength: 32 });
  const bytes = again ? fc.oneof(random, fc.constant(again)) : random;
  return [bytes.map((sent) => ({ unsolicited: { [line.name]: Buffer.from(sent).toString('hex') } }))];
}

/** A device has other manners, one at a time. */
function* mannersOf(played: Played): Iterable<fc.Arbitrary<WrittenActions>> {
  for (const name of devicesOf(played))
    for (const [key, schema] of Object.entries(mannersSchema.shape))
      yield written(schema).map((content) => ({ manners: { [name]: { [key]: content ?? true } } }));
}

/** A device behaves as an entry of the catalogue; undefined for an entry that the line can't carry. */
function* entriesFor(played: Played): Iterable<fc.Arbitrary<WrittenActions> | undefined> {
  const { line, unitId } = played;
  const devices = devicesOf(played);
  for (const id of catalogueIds()) {
    const player = new EntryPlayer(knownEntry(id), line, unitId);
    const { manners } = knownEntry(id);
    // A step names its faults itself.
    const faults = player.written.map(({ name: _, ...rule }) => rule);
    yield player.whyNot === undefined
      ? fc.constant({
          ...(faults.length > 0 && { fault: faults }),
          ...(manners && { manners: Object.fromEntries(devices.map((name) => [name, manners])) }),
        })
      : undefined;
  }
}

/** The simplest moves, the simplest first: what shrinking puts in place of others. */
export function simplestOf({ line, about }: Pick<Played, 'line' | 'about'>): WrittenActions[] {
  const fault = (...faults: object[]) => ({ fault: { when: { line: line.name }, do: faults } });
  const hasCrc = about.framing !== 'socket';
  return [
    fault({ silence: true }),
    fault({ exception: 4 }),
    ...[10, 100, 1_000, LONGEST_MS].map((delay) => fault({ delay })),
    ...(hasCrc ? [fault({ crc: 'invert' })] : []),
    fault({ truncate: 5 }),
    ...(about.kind === 'tcp' || about.kind === 'tls' ? [fault({ close: 'end' })] : []),
    fault({ noise: '00' }),
  ];
}
