import type { Condition } from '../../device/faults/condition.js';
import { matchesRequest, type RequestFacts } from '../../device/faults/matching.js';
import type { NamedValue } from '../../device/faults/rule.js';
import type { Seen } from './seen.js';
import { matchesWrite, type WantedWrite } from './wanted-write.js';

/** Which requests are meant. */
export interface Matcher {
  /** `a request with unit 1, function 3`, for messages. */
  readonly text: string;
  readonly condition: Pick<Condition, 'line' | 'unit' | 'function' | 'address' | 'quantity'>;
  /** The places of the names in the condition; absent without names. */
  readonly values?: readonly NamedValue[];
  /** All of them have to be written by the request. */
  readonly writes: readonly WantedWrite[];
  /** One of these exceptions has to be the reply; absent where the reply does not matter. */
  readonly exceptions?: readonly number[];
}

/** Conditions ask only for the name of a line. */
const NONE: ReadonlySet<never> = new Set();

/** Whether an event is what the matcher means: a reply where the matcher says something of it, otherwise a request. */
export function matches({ condition, values, writes, exceptions }: Matcher, seen: Seen): boolean {
  if (exceptions === undefined ? seen.reply !== undefined : !isAnsweredBy(exceptions, seen)) return false;
  return (
    matchesRequest(condition, values, factsOf(seen)) && writes.every((write) => matchesWrite(write, seen))
  );
}

/** What conditions ask of a request. */
export function factsOf(seen: Seen): RequestFacts {
  return { ...seen, line: { name: seen.line, abilities: NONE } };
}

function isAnsweredBy(exceptions: readonly number[], { reply }: Seen): boolean {
  return reply?.exception !== undefined && exceptions.includes(reply.exception);
}
