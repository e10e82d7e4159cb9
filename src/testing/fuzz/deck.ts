import { MAX_SEED, seededRandom } from '../../common/random.js';
import { isMapping } from '../../common/schema/parts.js';
import type { Work } from '../../common/work.js';
import { writtenFault } from '../../device/faults/kinds.js';
import { lineProblems, ruleSchema } from '../../device/faults/rule.js';
import { knownEntry } from '../../document/catalogue.js';
import { catalogueIds } from '../../document/catalogue-files.js';
import { mannersSchema } from '../../document/native/manners-schema.js';
import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import { conditionsOf, type Poll, wentWell } from '../client/heard/exchange.js';
import { EntryPlayer } from '../client/trial/entry-player.js';
import { type PolledLine, pduOf } from '../tested-line.js';
import { bytesOf, type Draw, either, fitting, listOf, oneOf, weighted, wholeFrom } from './draw.js';
import {
  ENTRIES,
  kindsIn,
  type Move,
  OTHER_KINDS,
  type Schedule,
  stepOf,
  type WrittenActions,
} from './move.js';
import { LONGEST_MS, written } from './written.js';

interface Played {
  readonly simulator: Simulator;
  readonly line: Line;
  readonly about: PolledLine;
  /** The unit whose requests are disturbed; undefined: any unit. */
  readonly unitId: number | undefined;
  readonly polls: readonly Poll[];
  /** The most frequent poll. */
  readonly target: Poll;
  /** The device whose register shows what the client has read. A power failure would erase it. */
  readonly showing: string | undefined;
  /** Kinds of moves that are excluded. */
  readonly except: ReadonlySet<string>;
}

/**
 * Kinds of faults, grouped by their effect on a client, with the weight of each group. First a group is
 * drawn, and then a kind in it, so that combinations of two or three come soon. Faults that occur on most
 * lines have the greatest weight.
 */
const FAULTS: readonly (readonly [weight: number, kinds: readonly string[]])[] = [
  [2, ['delay', 'coalesce', 'early']],
  [4, ['silence', 'truncate']],
  [
    3,
    ['corrupt', 'crc', 'extend', 'noise', 'drop', 'insert', 'junk', 'split', 'gap', 'break', 'echo', 'mbap'],
  ],
  [4, ['exception', 'pdu']],
  [2, ['unit', 'function', 'byteCount', 'transaction', 'stale', 'duplicate']],
  [2, ['values', 'change']],
  [2, ['close']],
];
const RARE = 1;

/** The kinds with the same effect on a client as this one: those in its group. */
export function groupOf(kind: string): readonly string[] {
  return FAULTS.map(([, kinds]) => kinds).find((kinds) => kinds.includes(kind)) ?? [kind];
}

/** All kinds of moves that can be excluded. */
export function knownKinds(): string[] {
  const faults = writtenFault.options.flatMap((option) => Object.keys(option.shape));
  return [...new Set([...faults, ...Object.keys(mannersSchema.shape), ...OTHER_KINDS])];
}

/** Values that devices send for "no value": all ones, the smallest number, NaN, zero. */
const NO_VALUES: readonly (readonly number[])[] = [
  [0xffff, 0xffff],
  [0x8000, 0],
  [0x7fc0, 0],
  [0, 0],
  [0x7fff, 0xffff],
];

const MOST_MOVES = 6;
const LONGEST_MOVE = 8;
const MOST_UNSOLICITED = 32;
/** The usual and the longest time between two moves, in requests. Longer times seldom matter. */
const USUAL_PAUSE = 3;
const LONGEST_PAUSE = 12;
/** How many times a kind is drawn to see whether this line supports it. */
const TRIES = 12;

/** Draws mostly moves that follow each other without a pause, and moves of one request: few clients fail only on others. */
const AFTER = weighted([
  [4, oneOf([0])],
  [3, wholeFrom(0, USUAL_PAUSE)],
  [1, wholeFrom(0, LONGEST_PAUSE)],
]);
const REQUESTS = weighted([
  [4, oneOf([1])],
  [3, wholeFrom(1, USUAL_PAUSE)],
  [1, wholeFrom(1, LONGEST_MOVE)],
]);
/** The length of a common event, in requests, before another one follows at once. */
const MOST_IN_A_ROW = wholeFrom(1, 2);
/** The lengths of the simplest moves, in requests: one, and enough for a client that retries several times. */
const SIMPLE_REQUESTS = [1, 6];

/**
 * Makes a deck for a line and its client; undefined if no kind of move is left. Yields after trying each kind
 * of move, because all of them take a third of a second.
 */
export function* makingDeck(played: Played, seed: number): Work<Deck | undefined> {
  const groups = yield* groupsFor(played);
  if (groups.length === 0) return undefined;
  const does = weighted(groups);
  const move: Draw<Move> = (random) => ({
    after: AFTER(random),
    requests: REQUESTS(random),
    does: does(random),
  });
  const common = commonOf(played);
  const row: Draw<Move[]> = (random) => [
    { after: AFTER(random), requests: MOST_IN_A_ROW(random), does: common(random) },
    { after: 0, requests: 1, does: common(random) },
  ];
  const rows: Draw<Move[]> = (random) => listOf(row, 1, MOST_MOVES / 2)(random).flat();
  const simple = simplestOf(played).filter((each) => !kindsIn(each).some((kind) => kind === 'delay'));
  const first = SIMPLE_REQUESTS.flatMap((requests) =>
    simple.map((does): Schedule => [{ after: 0, requests, does }]),
  ).filter(([only]) => only && stepOf(only, played.simulator));
  return new Deck(first, either(listOf(move, 1, MOST_MOVES), rows), seed);
}

/** Deals the simplest moves, each on its own, and then random schedules. The same seed gives the same schedules. */
class Deck {
  readonly #first: readonly Schedule[];
  readonly #drawn: Draw<Schedule>;
  readonly #seed: number;

  constructor(first: readonly Schedule[], drawn: Draw<Schedule>, seed: number) {
    this.#first = first;
    this.#drawn = drawn;
    this.#seed = seed;
  }

  schedule(number: number): Schedule {
    return this.#first[number] ?? this.#drawn(seededRandom(this.#seed, number));
  }
}

function isAllowed(does: WrittenActions, { except }: Pick<Played, 'except'>): boolean {
  return !kindsIn(does).some((kind) => except.has(kind));
}

/** Draws the moves of a group, with a weight. */
type Weighted = readonly [weight: number, Draw<WrittenActions>];

/** The groups of moves that this line supports. */
function* groupsFor(played: Played): Work<Weighted[]> {
  const faults = yield* faultsFor(played);
  const grouped = new Set(FAULTS.flatMap(([, kinds]) => kinds));
  const others = [...faults.keys()].filter((kind) => !grouped.has(kind));
  const groups = [...FAULTS, [RARE, others] as const].map(
    ([weight, kinds]) => [weight, kinds.flatMap((kind) => faults.get(kind) ?? [])] as const,
  );
  for (const movesOf of [suppliesOf, closingsOf, unsolicitedOf, mannersOf, entriesFor]) {
    if (movesOf === entriesFor && played.except.has(ENTRIES)) continue;
    const able = [];
    for (const actions of movesOf(played)) {
      if (actions) able.push(...usable(actions, played));
      yield;
    }
    groups.push([RARE, able]);
  }
  return groups.flatMap(([weight, able]) => (able.length > 0 ? [[weight, either(...able)] as const] : []));
}

/** Removes the actions that this simulator can't do or that were excluded. Empty if none are left. */
function usable(actions: Draw<WrittenActions>, played: Played): Draw<WrittenActions>[] {
  const fits = (does: WrittenActions) =>
    isAllowed(does, played) && stepOf({ after: 0, requests: 1, does }, played.simulator) !== undefined;
  return fittingFew(actions, fits);
}

/** Draws only what fits; empty if nothing that was tried fits. */
function fittingFew<Drawn>(draw: Draw<Drawn>, fits: (drawn: Drawn) => boolean): Draw<Drawn>[] {
  const random = seededRandom(1, 0);
  const known = Array.from({ length: TRIES }, () => draw(random)).find(fits);
  return known === undefined ? [] : [fitting(draw, fits, known)];
}

/** Draws of steps with one fault, by kind of fault. */
function* faultsFor(played: Played): Work<Map<string, Draw<WrittenActions>>> {
  const { line, target, unitId, except } = played;
  const about = { line: line.name, ...(unitId !== undefined && { unit: unitId }) };
  const when = oneOf<object>([about, about, { line: line.name, ...conditionsOf(target) }]);
  const seed = wholeFrom(0, MAX_SEED);
  const stepWith =
    (kind: string, parameters: Draw<unknown>): Draw<WrittenActions> =>
    (random) => ({
      fault: { when: when(random), do: [{ [kind]: parameters(random) }], seed: seed(random) },
    });
  const able = (written: unknown) => {
    const rule = ruleSchema.safeParse({ name: 'move', do: [written] });
    return rule.success && lineProblems(rule.data, [line.bus.line]).length === 0;
  };
  const kinds = new Map<string, Draw<WrittenActions>>();
  for (const option of writtenFault.options) {
    const [kind, schema] = Object.entries(option.shape)[0] as [string, (typeof option.shape)[string]];
    if (except.has(kind)) continue;
    const can = (each: unknown) => able({ [kind]: each }) && pausesIn(each) <= LONGEST_MS;
    const [parameters] = fittingFew(written(schema), can);
    yield;
    if (!parameters) continue;
    const special: Draw<unknown>[] = kind === 'values' ? [oneOf(NO_VALUES)] : [];
    kinds.set(kind, stepWith(kind, either(parameters, ...special)));
  }
  return kinds;
}

/** Number of pieces in a short reply that is cut before each byte. */
const PIECES = 16;

/** Total length of the pauses within a reply, in ms. During these, the connection carries no other reply. */
function pausesIn(parameters: unknown): number {
  if (!isMapping(parameters) || typeof parameters.gap !== 'number') return 0;
  const { gap, times, at } = parameters;
  return gap * (typeof times === 'number' ? times : at === 'each' ? PIECES : 1);
}

/** The devices that the client polls. */
function devicesOf({ line, unitId, polls }: Played): string[] {
  const units = unitId === undefined ? polls.map((each) => each.unitId) : [unitId];
  return [...new Set(units.flatMap((unit) => line.bus.deviceAt(unit)?.name ?? []))];
}

/** Power failures of a device. */
function suppliesOf(played: Played): Draw<WrittenActions>[] {
  const others = devicesOf(played).filter((name) => name !== played.showing);
  return others.map((name) => oneOf([{ power: { [name]: 'off' } }]));
}

/** Closing the line: it closes its connections, and refuses new ones. */
function closingsOf({ line, about }: Played): Draw<WrittenActions>[] {
  return about.kind === 'tcp' || about.kind === 'tls' ? [oneOf([{ closed: line.name }])] : [];
}

/** Unsolicited bytes from the line: random ones, or the last good reply again. */
function unsolicitedOf({ line, target }: Played): Draw<WrittenActions>[] {
  const good = target.asked.findLast(wentWell);
  const pdu = good?.reply && pduOf(good.reply);
  const again =
    good?.reply && pdu && good.reply.framing.encode({ transactionId: 0, unitId: target.unitId, pdu });
  const random = bytesOf(1, MOST_UNSOLICITED);
  const bytes = again ? either(random, oneOf([Buffer.from(again).toString('hex')])) : random;
  return [(numbers) => ({ unsolicited: { [line.name]: bytes(numbers) } })];
}

/** Other manners of a device, one at a time. */
function* mannersOf(played: Played): Iterable<Draw<WrittenActions>> {
  for (const name of devicesOf(played))
    for (const [key, schema] of Object.entries(mannersSchema.shape)) {
      const content = written(schema);
      yield (random) => ({ manners: { [name]: { [key]: content(random) ?? true } } });
    }
}

/** Catalogue entries, each played by a device; undefined for an entry that the line can't carry. */
function* entriesFor(played: Played): Iterable<Draw<WrittenActions> | undefined> {
  const { line, unitId } = played;
  const devices = devicesOf(played);
  for (const id of catalogueIds()) {
    const player = new EntryPlayer(knownEntry(id), line, unitId);
    const { manners } = knownEntry(id);
    // A scenario step names its faults itself.
    const faults = player.written.map(({ name: _, ...rule }) => rule);
    const does: WrittenActions = {
      ...(faults.length > 0 && { fault: faults }),
      ...(manners && { manners: Object.fromEntries(devices.map((name) => [name, manners])) }),
    };
    yield player.whyNot === undefined ? oneOf([does]) : undefined;
  }
}

/**
 * Draws events that happen on every bus, the most common ones most often: clients fail when two or three of
 * these come in a row.
 */
function commonOf(played: Played): Draw<WrittenActions> {
  const { line, about, simulator } = played;
  const isSocket = about.framing === 'socket';
  const all: [weight: number, fault: object][] = [
    [4, { silence: true }],
    ...[1, 2, 4, 6, 11].map((code): [number, object] => [1, { exception: code }]),
    [2, { truncate: 5 }],
    [2, isSocket ? { transaction: '+7' } : { crc: 'invert' }],
    [1, { unit: 247 }],
    [1, { byteCount: 1 }],
    [1, { delay: 500 }],
    [1, { split: { at: 'middle', gap: isSocket ? 20 : 1 } }],
    [1, { duplicate: { times: 1 } }],
    [2, { close: 'end' }],
  ];
  const able = all.flatMap(([weight, fault]) => {
    const does: WrittenActions = { fault: { when: { line: line.name }, do: [fault] } };
    const can = isAllowed(does, played) && stepOf({ after: 0, requests: 1, does }, simulator) !== undefined;
    return can ? [[weight, oneOf([does])] as const] : [];
  });
  return weighted(able);
}

/** The simplest moves, simplest first. Shrinking replaces others with them. */
export function simplestOf({
  line,
  about,
  except,
}: Pick<Played, 'line' | 'about' | 'except'>): WrittenActions[] {
  const fault = (...faults: object[]) => ({ fault: { when: { line: line.name }, do: faults } });
  const hasCrc = about.framing !== 'socket';
  const all = [
    fault({ silence: true }),
    fault({ exception: 2 }),
    fault({ exception: 4 }),
    ...[10, 100, 1_000, LONGEST_MS].map((delay) => fault({ delay })),
    ...(hasCrc ? [fault({ crc: 'invert' })] : []),
    fault({ truncate: 5 }),
    ...(about.kind === 'tcp' || about.kind === 'tls' ? [fault({ close: 'end' })] : []),
    fault({ noise: '00' }),
  ];
  return all.filter((does) => isAllowed(does, { except }));
}
