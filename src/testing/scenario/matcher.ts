import type { Condition } from '../../device/faults/condition.js';
import { matchesRequest, type RequestFacts } from '../../device/faults/matching.js';
import type { NamedValue } from '../../device/faults/rule.js';
import type { Seen } from './seen.js';
import { matchesWrite, type WantedWrite } from './wanted-write.js';

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
export function factsOf(seen: Seen): RequestFacts {
  return { ...seen, line: { name: seen.line, abilities: NONE } };
}

function isAnsweredBy(exceptions: readonly number[], { reply }: Seen): boolean {
  return reply?.exception !== undefined && exceptions.includes(reply.exception);
}
