import type { PresentValue } from './present-value.js';

/** Equal values side by side. */
interface Repetition {
  readonly address: number;
  readonly value: PresentValue;
  count: number;
}

/** Values side by side that one entry of a file holds: of one type, with the same flags and action. */
export interface Run {
  /** The first address. */
  readonly address: number;
  /** The first of the values. */
  readonly first: PresentValue;
  /** One value for all of them, or one for each. */
  readonly values: readonly PresentValue['written'][];
  readonly quantity: number;
  /** True when the registers of a value hold bytes that the entry does not give again. */
  readonly inexact: boolean;
}

/** Fewer equal values are shorter in a list than in an entry of their own. */
const FEWEST_REPEATED = 8;
const LONGEST_LIST = 128;

/** A value with its address; undefined while the next one is looked for, so that a long search can be interrupted. */
export type Found = readonly [address: number, value: PresentValue] | undefined;

/** Puts values, in ascending order, into entries: many equal values into one, others into lists. */
export function* runsOf(values: Iterable<Found>): Generator<Run | undefined> {
  let list: Repetition[] = [];
  for (const repetition of repetitionsOf(values)) {
    if (repetition === undefined) {
      yield undefined;
      continue;
    }
    const isRepeated = repetition.count >= FEWEST_REPEATED;
    if (isRepeated || list.length >= LONGEST_LIST || !continues(list.at(-1), repetition)) {
      yield* listed(list);
      list = [];
    }
    if (isRepeated) yield repeated(repetition);
    else list.push(repetition);
  }
  yield* listed(list);
}

function* repetitionsOf(values: Iterable<Found>): Generator<Repetition | undefined> {
  let current: Repetition | undefined;
  for (const found of values) {
    if (!found) {
      yield undefined;
      continue;
    }
    const [address, value] = found;
    const next: Repetition = { address, value, count: 1 };
    if (current && continues(current, next) && Object.is(current.value.written, value.written)) {
      current.count++;
      continue;
    }
    if (current) yield current;
    current = next;
  }
  if (current) yield current;
}

/** True when `next` begins where `before` ends, and one entry can hold both. */
function continues(before: Repetition | undefined, next: Repetition): boolean {
  if (!before || next.address !== before.address + before.count * before.value.cells) return false;
  const [one, other] = [before.value, next.value];
  return (
    one.type === other.type &&
    one.cells === other.cells &&
    one.writable === other.writable &&
    one.padding === other.padding &&
    isSameAction(one.action, other.action)
  );
}

function isSameAction(one: PresentValue['action'], other: PresentValue['action']): boolean {
  if (one === other) return true;
  return one?.name === other?.name && one?.minval === other?.minval && one?.maxval === other?.maxval;
}

function repeated({ address, value, count }: Repetition): Run {
  return { address, first: value, values: [value.written], quantity: count, inexact: value.inexact === true };
}

function* listed(list: readonly Repetition[]): Generator<Run> {
  const [first] = list;
  if (!first) return;
  const values = list.flatMap(({ value, count }) => new Array(count).fill(value.written));
  yield {
    address: first.address,
    first: first.value,
    values,
    quantity: values.length,
    inexact: list.some(({ value }) => value.inexact),
  };
}
