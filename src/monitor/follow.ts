import type { LeftOut } from '../api/v1/traffic-view.js';
import { SseParser } from '../rest/events.js';
import type { TrafficView } from '../traffic/view.js';
import { unreachableReason } from './unreachable.js';

export type Shown = TrafficView | LeftOut;

/** What the person who follows a simulator is to know, in the order in which it happened. */
export type Followed =
  | { readonly kind: 'events'; readonly events: readonly Shown[] }
  /** The connection is gone, and the simulator is waited for. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'connected' }
  /** Another run of the simulator has begun; its events are told from the first one on. */
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

type Refused = Extract<Followed, { kind: 'refused' }>;

type Connection = { readonly kind: 'connected'; readonly body: AsyncIterable<Uint8Array> } | Refused;

/** How the reading of a connection ended. `after` is the number of the last event that came. */
interface End {
  readonly after: number | undefined;
  readonly isRestart: boolean;
  readonly reason: string;
}

/** Statuses of a simulator that may take this reader later, because it has too many of them now. */
const FOR_NOW = 503;

/**
 * Follows a running simulator until `signal`, or until it refuses. A connection that breaks is made anew, and goes on
 * after the last event that came.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Followed, void> {
  const { signal } = options;
  let state: 'new' | 'connected' | 'lost' = 'new';
  let after: number | undefined;
  while (!signal.aborted) {
    const connection = await connect(options, after);
    if (signal.aborted) return;
    let reason: string;
    if (connection.kind === 'refused') {
      const { status } = connection;
      const mayChange = status === undefined || status === FOR_NOW;
      if (state === 'new' || !mayChange) {
        yield connection;
        return;
      }
      reason = connection.reason;
    } else {
      if (state !== 'connected') yield { kind: 'connected' };
      state = 'connected';
      const end: End = yield* read(connection.body, after);
      after = end.after;
      if (signal.aborted) return;
      if (end.isRestart) {
        yield { kind: 'restarted' };
        continue;
      }
      reason = end.reason;
    }
    if (state !== 'lost') yield { kind: 'lost', reason };
    state = 'lost';
    await pause(options);
  }
}

async function connect(
  { url, token, signal }: FollowOptions,
  after: number | undefined,
): Promise<Connection> {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (after !== undefined) headers['last-event-id'] = String(after);
  try {
    const response = await fetch(url, { headers, signal });
    const { status, body } = response;
    if (status !== 200) return { kind: 'refused', status, reason: await reasonIn(response) };
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (isStream && body) return { kind: 'connected', body };
    return { kind: 'refused', status, reason: 'this is no modbus-sim: the answer is no stream of events' };
  } catch (error) {
    return { kind: 'refused', status: undefined, reason: unreachableReason(error as Error) };
  }
}

/** Tells what comes on a connection until it breaks, or until it turns out to be of another run of the simulator. */
async function* read(
  body: AsyncIterable<Uint8Array>,
  from: number | undefined,
): AsyncGenerator<Followed, End> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  let after = from;
  try {
    for await (const chunk of body) {
      for (const { id, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
        const at = id === undefined ? after : Number(id);
        // The simulator counts from 1 again. Whatever happened before this reader was back is asked for, too.
        if (at !== undefined && after !== undefined && at < after)
          return { after: 0, isRestart: true, reason: '' };
        if (data !== undefined) yield { kind: 'events', events: JSON.parse(data) as Shown[] };
        after = at;
      }
    }
    return { after, isRestart: false, reason: 'the connection was closed' };
  } catch (error) {
    return { after, isRestart: false, reason: unreachableReason(error as Error) };
  }
}

/** The text in an error answer of the simulator. */
async function reasonIn(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const isOurs = typeof body === 'object' && body !== null && 'error' in body;
  return isOurs ? String(body.error) : `HTTP ${response.status}`;
}

function pause({ retryMs, signal }: FollowOptions): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, retryMs);
    signal.addEventListener('abort', done);
  });
}
