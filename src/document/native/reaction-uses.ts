import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Work } from '../../common/work.js';
import type { PointDefinition } from '../../device/point.js';
import type { ReactionDefinition, Use } from '../../device/reactions/reaction.js';
import type { CellType } from '../../device/registers/cell-type.js';
import { typeOfMeta } from '../../device/registers/layout.js';
import type { DeviceDefinition } from '../configuration.js';
import { entryFinder, MOST_KNOWN, type Network, ordering } from './dependencies.js';

/** Maximum changes that one write may cause, directly or through other reactions. */
const MAX_CHANGES = 100;
/** The same, including the values that follow what is changed. */
const MAX_FOLLOWED = 1000;

/** Maximum values whose reactions may watch writes to one value, so that a write stays cheap. */
const MAX_WATCHING = 100;

interface Reacting {
  readonly device: DeviceDefinition;
  readonly point: PointDefinition;
  readonly at: At;
}

/** The properties of a value that matter to reactions that use it. */
type UsedPoint = Pick<PointDefinition, 'type' | 'signal' | 'reactions'>;

/**
 * Reports reactions that name missing or unsuitable values, and writes that lead back to themselves, as work
 * that can pause.
 * @param network the values of other devices
 * @param deviceAt finds the entry of a device
 */
export function* reportingReactionUses(
  definitions: readonly DeviceDefinition[],
  network: Network,
  deviceAt: (device: string) => At,
): Work<void> {
  const own = new Map(
    definitions.map((device) => [device.name, new Map(pointsOf(device).map((point) => [point.name, point]))]),
  );
  const find = (device: string, name: string): UsedPoint | undefined =>
    own.has(device) ? own.get(device)?.get(name) : network.find(device, name)?.point;
  for (const device of definitions) {
    const registers = deviceAt(device.name).key('registers');
    const entryOf = entryFinder(registers);
    const reacting: Reacting[] = [];
    for (const point of pointsOf(device)) {
      const at = point.reactions && entryOf(point);
      if (!at) continue;
      reacting.push({ device, point, at });
      yield;
    }
    const unknown = new Map<string, string>();
    const unknownIn = (name: string) => {
      const message = unknown.get(name) ?? unknownName('name', name, namesOf(device));
      unknown.set(name, message);
      return message;
    };
    if (yield* registers.unlessWrongIn(reportingUses(reacting, find, unknownIn)))
      yield* reportingCircles(reacting, pointsOf(device));
  }
}

function* reportingUses(
  reacting: readonly Reacting[],
  find: (device: string, name: string) => UsedPoint | undefined,
  unknownIn: (name: string) => string,
): Work<true> {
  const watching = new Map<Use['target'], number>();
  for (const each of reacting) {
    for (const { kind, uses } of each.point.reactions ?? []) {
      for (const use of uses) {
        const { count } = each.at.findings;
        const at = each.at.key(kind).below(use.path);
        reportUse(each, use, at, find, unknownIn);
        if (use.as === 'watched') {
          const count = (watching.get(use.target) ?? 0) + 1;
          watching.set(use.target, count);
          if (count === MAX_WATCHING + 1)
            at.wrong(`more than ${MAX_WATCHING} watchdogs (fallsBack) depend on ${use.target}`);
        }
        // An unknown name was compared with a thousand others.
        if (each.at.findings.count > count) yield;
      }
    }
    yield;
  }
  return true;
}

function reportUse(
  { device }: Reacting,
  { as, target }: Use,
  at: At,
  find: (device: string, name: string) => UsedPoint | undefined,
  unknownIn: (name: string) => string,
) {
  if (typeof target === 'number') {
    const type = holdingType(device, target);
    if (type === 'invalid' || type === 'next') at.wrong(`no value begins at holding register ${target}`);
    else if (type === 'string') at.wrong(`holding register ${target} is text, expected a number`);
    return;
  }
  const dot = target.lastIndexOf('.');
  const found = find(dot < 0 ? device.name : target.slice(0, dot), target.slice(dot + 1));
  if (as === 'set' && target.includes('.')) at.wrong('expected a name in the same device, without a dot');
  else if (!found) at.wrong(unknownIn(target));
  else if (found.type === 'string') at.wrong(`${target} is text, expected a number`);
  else if (as === 'set' && isMoved(found)) at.wrong(`the signal of ${target} would overwrite it`);
}

/** Reports whether a signal overwrites the value whatever is written. Counters and latches adopt what is written. */
function isMoved({ signal, reactions }: UsedPoint): boolean {
  const takesOver = signal?.definition.kind === 'counter' || reactions?.some(({ kind }) => kind === 'latch');
  return signal !== undefined && !takesOver;
}

/**
 * Reports reactions that run in a circle or branch too often. A write that leads back to itself would never
 * end; one that branches again and again would take too long.
 */
function* reportingCircles(reacting: readonly Reacting[], all: readonly PointDefinition[]): Work<void> {
  const targets = new Map<string, string[]>();
  for (const { point } of reacting) {
    targets.set(keyOf(point), targetsOf(point));
    yield;
  }
  const order = yield* ordering(targets, 'sets');
  const onWriteOf = (key: string) => reacting.find(({ point }) => keyOf(point) === key)?.at.key('onWrite');
  if (!order.ok) {
    onWriteOf(order.name)?.wrong(order.error);
    return;
  }
  const changes = new Map<string, number>();
  const withFollowers = new Map<string, number>();
  const followersOf = yield* countingFollowers(all);
  for (const key of order.order) {
    const names = targets.get(key) ?? [];
    const sumOf = (count: (name: string) => number) => names.reduce((sum, name) => sum + 1 + count(name), 0);
    const count = sumOf((name) => changes.get(name) ?? 0);
    const followed = sumOf((name) => (withFollowers.get(name) ?? 0) + followersOf(name));
    changes.set(key, count);
    withFollowers.set(key, followed);
    yield;
    if (count <= MAX_CHANGES && followed <= MAX_FOLLOWED) continue;
    const [got, most] = count > MAX_CHANGES ? [count, MAX_CHANGES] : [followed, MAX_FOLLOWED];
    onWriteOf(key)?.wrong(`one write leads to ${got} changes, expected at most ${most}`);
    return;
  }
}

/** Counts the values that follow a value, by name, directly or indirectly. Chains were already checked. */
function* countingFollowers(all: readonly PointDefinition[]): Work<(name: string) => number> {
  const followers = new Map<string, (string | undefined)[]>();
  for (const { name, signal } of all) {
    const [followed] = signal?.definition.kind === 'follows' ? signal.definition.needs : [];
    if (followed === undefined) continue;
    const known = followers.get(followed);
    if (known) known.push(name);
    else followers.set(followed, [name]);
    yield;
  }
  const counts = new Map<string, number>();
  const countOf = (name: string): number => {
    const known = counts.get(name);
    if (known !== undefined) return known;
    // A circle of followers is reported elsewhere, and must not be followed here.
    counts.set(name, 0);
    const count = (followers.get(name) ?? []).reduce(
      (sum, each) => sum + 1 + (each === undefined ? 0 : countOf(each)),
      0,
    );
    counts.set(name, count);
    return count;
  };
  return countOf;
}

function targetsOf({ reactions = [] }: PointDefinition): string[] {
  const uses = reactions.flatMap((each: ReactionDefinition) => each.uses);
  return uses.flatMap(({ as, target }) => (as === 'set' ? [String(target)] : []));
}

function keyOf({ name, table, address }: PointDefinition): string {
  return name ?? `${table} ${address}`;
}

function pointsOf({ life }: DeviceDefinition): readonly PointDefinition[] {
  return life?.points ?? [];
}

function namesOf(device: DeviceDefinition): string[] {
  return pointsOf(device)
    .flatMap(({ name }) => name ?? [])
    .slice(0, MOST_KNOWN);
}

function holdingType({ tables }: DeviceDefinition, address: number): CellType {
  const { layout, size } = tables.holding;
  return address < size ? typeOfMeta(layout.meta[address] as number) : 'invalid';
}
