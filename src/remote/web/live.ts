import { signal } from '@preact/signals';
import type { RemoteRefusal } from '../../common/rest-client/client.js';
import { type ConnectionWanted, type Followed, follow } from '../../common/rest-client/events.js';
import type { Summary } from '../../simulator/commands/schemas/summary.js';
import type { StreamedView } from '../api/v1/traffic-view.js';
import { needsLogIn, send } from './api.js';

/** How the connection is. `refused`: the simulator answers, and refuses it. */
export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'lost' }
  | { readonly state: 'refused'; readonly reason: string };

export const connection = signal<ConnectionState>({ state: 'connecting' });

/** The state of everything, once a second; undefined before the first one. */
export const summary = signal<Summary | undefined>(undefined);

/** Counts restarts of the simulator. What was read before one does not hold any more. */
export const restarts = signal(0);

/** Counts how often the connection came back. What could not be read without it can be read now. */
export const comebacks = signal(0);

/** All traffic up to this sequence number was read. */
export const readUpTo = signal(0);

/** Events of one frame, in their order. An event of kind `left out` stands for those that the simulator gave up. */
export type Batch = readonly StreamedView[];

/** A view that reads the traffic. */
interface TrafficFollower {
  /** Filters of `/api/v1/events`: `new URLSearchParams({ line: 'lan' })`. Narrow ones keep the page cheap. */
  readonly filter: URLSearchParams;
  /** Begins after this sequence number; with the next event without it. */
  readonly after?: number;
  /** Is called once a frame at most. */
  readonly onBatch: (batch: Batch) => void;
  /** Is called when the simulator refuses the filter, as one that names a line which is gone. No batch comes any more. */
  readonly onRefused?: (problem: RemoteRefusal) => void;
}

/** With more events than this waiting for the next frame, the page stops reading, and the simulator waits. */
const MOST_PENDING = 4000;
const BAD_REQUEST = 400;
const RETRY_MS = 1000;
/** A summary comes every second. */
const SILENCE_MS = 5000;
/** A page that is hidden gets no frames. */
const HIDDEN_FRAME_MS = 1000;

let follower: TrafficFollower | undefined;
let after: number | undefined;
/** The follower whose filter the simulator refuses. The page lives on without traffic. */
let refused: TrafficFollower | undefined;
/** The follower for which the present connection was made. */
let served: TrafficFollower | undefined;
/** Ends the present connection, so that the next one is made at once. */
let current = new AbortController();
const pending: StreamedView[] = [];
/** False after a break, until the summary has said whether it is still the same simulator: its events wait until then. */
let isKnown = true;

/** The difference of the simulator's clock and ours, in ms. */
const clockOffset = signal(0);

/** The time of the simulator in ms since 1970. All times that the console shows are from there. */
export function serverNow(): number {
  return Date.now() + clockOffset.value;
}

/**
 * Hands a view the traffic until the function that is returned is called. The page has one connection with one filter:
 * a second follower takes the place of the first.
 */
export function followTraffic(wanted: TrafficFollower): () => void {
  const begin = (next: TrafficFollower | undefined) => {
    follower = next;
    if (next) after = next.after;
    pending.length = 0;
    current.abort();
  };
  begin(wanted);
  return () => {
    if (follower === wanted) begin(undefined);
  };
}

/** Nobody sees a page that is hidden: it reads no traffic. */
function whoFollows(): TrafficFollower | undefined {
  return globalThis.document?.hidden || follower === refused ? undefined : follower;
}

/** Keeps the one connection of the page, as long as the page lasts. */
export async function keepConnected(): Promise<void> {
  globalThis.document?.addEventListener('visibilitychange', () => {
    // A view that began with the next event goes on with the next event.
    if (follower?.after === undefined) after = undefined;
    current.abort();
  });
  for await (const step of follow(send, nextConnection, SILENCE_MS)) {
    if (step.kind === 'open') opened();
    else if (step.kind === 'closed') await closed(step);
    else if (served === whoFollows()) {
      const { id, data } = step;
      if (data !== undefined) take(JSON.parse(data) as StreamedView[] | Summary);
      if (id !== undefined && served === follower) readUpTo.value = after = Number(id);
      if (pending.length >= MOST_PENDING) await nextFrame();
    }
  }
}

function nextConnection(): ConnectionWanted {
  current = new AbortController();
  served = whoFollows();
  const query = new URLSearchParams(served?.filter);
  query.set('tell', served ? 'traffic,summary' : 'summary');
  if (served && after !== undefined) query.set('after', String(after));
  return { path: `/events?${query}`, signal: current.signal };
}

function opened(): void {
  const { state } = connection.peek();
  connection.value = { state: 'open' };
  if (state !== 'lost' && state !== 'refused') return;
  isKnown = false;
  comebacks.value++;
}

async function closed({ status, problem }: Extract<Followed, { kind: 'closed' }>): Promise<void> {
  if (status === BAD_REQUEST && served) {
    refused = served;
    if (served === follower) served.onRefused?.(problem);
    return;
  }
  connection.value = status === 0 ? { state: 'lost' } : { state: 'refused', reason: problem.detail };
  await (needsLogIn.value ? loggedIn() : new Promise((resolve) => setTimeout(resolve, RETRY_MS)));
}

/** A list is traffic, anything else a summary. */
function take(message: StreamedView[] | Summary): void {
  if (!Array.isArray(message)) {
    takeSummary(message);
    return;
  }
  if (pending.length === 0) void nextFrame().then(handOver);
  for (const event of message) pending.push(event);
}

function handOver(): void {
  if (!isKnown) return;
  const batch = pending.splice(0);
  if (batch.length > 0) follower?.onBatch(batch);
}

function takeSummary(next: Summary): void {
  const offset = Date.parse(next.time) - Date.now();
  // A smaller difference is the time that the message took.
  if (Math.abs(offset - clockOffset.peek()) > 500) clockOffset.value = offset;
  const last = summary.peek();
  summary.value = next;
  isKnown = true;
  if (last && next.program.run !== last.program.run) {
    after = undefined;
    refused = undefined;
    pending.length = 0;
    // Whoever went on after an event of the other run must begin anew: the numbers mean other events now.
    if (follower?.after !== undefined) {
      follower = undefined;
      current.abort();
    }
    restarts.value++;
  } else handOver();
}

/** Resolves when the browser draws next, or after a second when it draws nothing. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      resolve();
    };
    const frame = requestAnimationFrame(done);
    const timer = setTimeout(done, HIDDEN_FRAME_MS);
  });
}

function loggedIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = needsLogIn.subscribe((isNeeded) => {
      if (isNeeded) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
