import { effect, type Signal, signal } from '@preact/signals';
import type { RemoteRefusal } from '../../common/rest-client/client.js';
import { ask, session } from './api.js';
import { comebacks, restarts, summary } from './live.js';

/** A value that is read from the simulator and kept up to date. */
export interface Resource<Value> {
  /** The value; undefined until it is read. */
  readonly current: Signal<Value | undefined>;
  /** Why the last read failed; undefined if it did not. */
  readonly problem: Signal<RemoteRefusal | undefined>;
  readonly read: () => Promise<void>;
  /** Reads the value now and whenever it may have changed, until the returned function is called. */
  readonly follow: () => () => void;
}

/**
 * Makes a resource that reads `path` again whenever the result of `changes` differs as JSON, and after a
 * restart, a lost connection or a log-in. While `changes` returns undefined, nothing is read.
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
    // The answer to a later request may have arrived first.
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
