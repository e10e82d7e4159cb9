import { sendTo, unreachableReason } from '../../common/rest-client/client.js';
import { follow as followEvents } from '../../common/rest-client/events.js';

/** What happens while following a simulator, in order. */
export type Followed =
  /**
   * Events as they were received; undefined if the body is not JSON. Any program may answer at the address.
   */
  | { readonly kind: 'events'; readonly events: unknown }
  /** The connection was lost; it is made again once the simulator answers. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'connected' }
  /** The simulator was restarted. Its events follow, from the first one. */
  | { readonly kind: 'restarted' }
  /** The simulator refuses, and asking again will not help. `status` is undefined if nothing answered. */
  | { readonly kind: 'refused'; readonly status: number | undefined; readonly reason: string };

export interface FollowOptions {
  /** The URL of `GET /api/v1/events` with its filters. */
  readonly url: URL;
  readonly token: string | undefined;
  /** Begins after this event; with new events when undefined. */
  readonly after?: number | undefined;
  /** Abort this signal to stop following. */
  readonly signal: AbortSignal;
  /** Pause before reconnecting, in ms. */
  readonly retryMs: number;
}

/** The status if the simulator has too many readers at the moment. It may accept this one later. */
const FOR_NOW = 503;
/** Longest silence on a connection, in ms. A simulator without events sends a keep-alive every 15 s. */
const SILENCE_MS = 60_000;

/**
 * Follows a running simulator until `signal` is aborted or the simulator refuses. After a lost connection,
 * reconnects and continues after the last event received.
 */
export async function* follow({
  url,
  token,
  after: first,
  signal,
  retryMs,
}: FollowOptions): AsyncGenerator<Followed, void> {
  let state: 'new' | 'connected' | 'lost' = 'new';
  let after = first;
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
        // The simulator counts from 1 again. This also fetches the events from before we reconnected.
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
