import { effect, type Signal, signal } from '@preact/signals';
import type { RemoteRefusal } from '../../common/rest-client/client.js';
import { ask, session } from './api.js';
import { comebacks, restarts, summary } from './live.js';

/** What the simulator was asked for, and how to keep it up to date. */
export interface Resource<Value> {
  /** Undefined before it was read. */
  readonly current: Signal<Value | undefined>;
  /** Why it could not be read the last time. */
  readonly problem: Signal<RemoteRefusal | undefined>;
  readonly read: () => Promise<void>;
  /** Reads it now, and whenever it may have changed, until the function that is returned is called. */
  readonly follow: () => () => void;
}

/**
 * Reads `path` again whenever `changes` gives something else, as JSON compares it, and after a restart, a lost connection
 * or a log-in. Nothing is read while `changes` gives undefined.
 */
export function resource<Body, Value>(
  path: () => string,
  pick: (body: Body) => Value,
  changes: () => unknown = () => true,
): Resource<Value> {
  const current = signal<Value | undefined>(undefined);
  const problem = signal<RemoteRefusal | undefined>(undefined);
  let [reads, newest] = [0, Promise.resolve()];
  const readOnce = async (mine: number): Promise<void> => {
    const answer = await ask<Body>('GET', path());
    // An answer may be overtaken by that of a later request.
    if (mine !== reads) return newest;
    problem.value = answer.ok ? undefined : answer.problem;
    if (answer.ok) current.value = pick(answer.value);
  };
  const read = () => {
    newest = readOnce(++reads);
    return newest;
  };
  const follow = () => {
    let last = '';
    return effect(() => {
      const seen = summary.value && changes();
      const now = JSON.stringify([restarts.value, comebacks.value, session.value?.role, seen]);
      if (seen === undefined || now === last) return;
      last = now;
      void read();
    });
  };
  return { current, problem, read, follow };
}
