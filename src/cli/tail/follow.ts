import { sendTo } from '../../common/rest-client/client.js';
import { follow as followEvents } from '../../common/rest-client/events.js';
import { unreachableReason } from './unreachable.js';

/** What the person who follows a simulator is to know, in the order in which it happened. */
export type Followed =
  /** As they came, undefined for what is no JSON: any program may answer at the address. */
  | { readonly kind: 'events'; readonly events: unknown }
  /** The connection is gone, and the simulator is waited for. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'connected' }
  /** Another run of the simulator has begun; its events come from the first one on. */
  | { readonly kind: 'restarted' }
  /** Asking again will not help. `status` is undefined when nobody answered. */
  | { readonly kind: 'refused'; readonly status: number | undefined; readonly reason: string };

export interface FollowOptions {
  /** Of `GET /api/v1/events`, with its filters. */
  readonly url: URL;
  readonly token: string | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Between two attempts to connect. */
  readonly retryMs: number;
}

/** The status of a simulator that may take this reader later, because it has too many of them now. */
const FOR_NOW = 503;
/** A simulator says every 15 s that nothing has happened. */
const SILENCE_MS = 60_000;

/**
 * Follows a running simulator until `signal`, or until it refuses. A connection that breaks is made again, and goes on
 * after the last event that came.
 */
export async function* follow({
  url,
  token,
  signal,
  retryMs,
}: FollowOptions): AsyncGenerator<Followed, void> {
  let state: 'new' | 'connected' | 'lost' = 'new';
  let after: number | undefined;
  let current = new AbortController();
  const next = () => {
    if (signal.aborted) return undefined;
    current = new AbortController();
    const target = new URL(url);
    if (after !== undefined) target.searchParams.set('after', String(after));
    return { path: `${target.pathname}${target.search}`, signal: AbortSignal.any([signal, current.signal]) };
  };
  for await (const step of followEvents(sendTo(url.origin, token), next, SILENCE_MS)) {
    if (step.kind === 'open') {
      if (state !== 'connected') yield { kind: 'connected' };
      state = 'connected';
    } else if (step.kind === 'message') {
      const at = step.id === undefined ? after : Number(step.id);
      if (at !== undefined && after !== undefined && at < after) {
        // The simulator counts from 1 again. What happened before this reader was back is asked for, too.
        after = 0;
        current.abort();
        yield { kind: 'restarted' };
        continue;
      }
      if (step.data !== undefined) yield { kind: 'events', events: parsed(step.data) };
      after = at;
    } else {
      const { status, problem, cause } = step;
      const reason = status === 0 ? unreachableReason(cause as Error) : problem.detail;
      const mayChange = status === 0 || status === FOR_NOW;
      if (state === 'new' || !mayChange) {
        yield { kind: 'refused', status: status === 0 ? undefined : status, reason };
        return;
      }
      if (state !== 'lost') yield { kind: 'lost', reason };
      state = 'lost';
      await pause(retryMs, signal);
    }
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
