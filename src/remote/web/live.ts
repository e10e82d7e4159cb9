import { signal } from '@preact/signals';
import { BAD_REQUEST, type RemoteRefusal } from '../../common/rest-client/client.js';
import { type ConnectionWanted, type Followed, follow } from '../../common/rest-client/events.js';
import type { Summary } from '../../simulator/commands/schemas/program.js';
import type { StreamedView } from '../../simulator/traffic/view-schema.js';
import { needsLogIn, send } from './api.js';
import { recorded, recordedEvents, recordedLines } from './recorded.js';

/**
 * The state of the connection. `refused`: the simulator answers, but rejects it. `restarting`: only REST is
 * unavailable, for a short time.
 */
export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'lost' }
  | { readonly state: 'restarting' }
  | { readonly state: 'refused'; readonly reason: string };

export const connection = signal<ConnectionState>({ state: recorded ? 'open' : 'connecting' });

/** The state of the simulator, updated once a second; undefined until the first update. */
export const summary = signal<Summary | undefined>(recorded ? recordedSummary(recorded) : undefined);

/** The state at the end of a file's events, rounded up to a whole ms. */
function recordedSummary({ version }: { readonly version: string }): Summary {
  const { time = '1970', monotonicUs = 0, seq = 0 } = recordedEvents.at(-1) ?? {};
  const begunUs = Number(time.slice(23, 26)) || 0;
  const moreUs = begunUs > 0 ? 1000 - begunUs : 0;
  // Only what views of files need.
  return {
    time: new Date(Date.parse(time) + Math.sign(moreUs)).toISOString(),
    monotonicUs: monotonicUs + moreUs,
    program: { host: '', version, run: 'recorded' },
    lastSeq: seq,
    lines: recordedLines,
    devices: { edition: 0 },
  } as unknown as Summary;
}

/** Number of restarts of the simulator. Everything read before a restart is invalid. */
export const restarts = signal(0);

/** How often the connection was restored. What could not be read without it can be read now. */
export const comebacks = signal(0);

/** Sequence number up to which all traffic was read. */
export const readUpTo = signal(0);

/**
 * The events since the previous batch, in order. An event of kind `left out` is a placeholder for events that
 * the simulator has dropped.
 */
export type Batch = readonly StreamedView[];

/** A view that reads the traffic. */
interface TrafficFollower {
  /** Filters of `/api/v1/events`: `new URLSearchParams({ line: 'lan' })`. A narrow filter saves work. */
  readonly filter: URLSearchParams;
  /** Sequence number after which the traffic starts; without it, it starts with the next event. */
  readonly after?: number;
  /** Called at most every 200 ms; every 500 ms if many events arrive. */
  readonly onBatch: (batch: Batch) => void;
  /**
   * Called if the simulator rejects the filter, for example because a line no longer exists. No more batches
   * follow.
   */
  readonly onRefused?: (problem: RemoteRefusal) => void;
}

/** If more events than this wait for the next frame, the page stops reading, and the simulator waits. */
const MOST_PENDING = 4000;
const RECONNECT_MS = 1000;
/** The code of the answer while REST restarts. */
const RESTARTING = 'rest.restarting';
/** Longest silence on the connection, in ms. A summary arrives every second. */
const SILENCE_MS = 5000;
/** Time between two batches of a hidden page, in ms. Hidden pages get no animation frames. */
const HIDDEN_FRAME_MS = 1000;
/** Minimum time between two batches, in ms. */
const BATCH_MS = 200;
/** The same while more events arrive than anyone can read: each drawing shows only the last of them. */
const RUSH_MS = 500;
/** `RUSH_MS` applies to batches with at least this many events. A screen shows about 40 rows. */
const RUSH = 80;

let follower: TrafficFollower | undefined;
let after: number | undefined;
/** The follower whose filter the simulator rejects. The rest of the page works without traffic. */
let refused: TrafficFollower | undefined;
/** The follower for which the current connection was opened. */
let served: TrafficFollower | undefined;
/** Aborts the current connection; the next one is then opened at once. */
let current = new AbortController();
const pending: StreamedView[] = [];
/** The earliest time of the next batch, in the time base of `performance.now()`. */
let nextBatchAt = Number.NEGATIVE_INFINITY;
/** True from the arrival of traffic to the next batch. */
let isDue = false;
/**
 * False after a break, until the next summary shows whether it is still the same run of the simulator. Events
 * wait until then.
 */
let isKnown = true;

/** The simulator's clock minus the browser's, in ms. */
const clockOffset = signal(0);

/**
 * The simulator's current time, in ms since 1970; in a file, the time of its last event. The console only
 * shows the simulator's times.
 */
export function serverNow(): number {
  return recorded ? Date.parse(summary.peek()?.time ?? '') : Date.now() + clockOffset.value;
}

/** Converts a wall-clock time to the clock of `monotonicUs`. @param ms since 1970 */
export function usOf(ms: number): number {
  return (summary.peek()?.monotonicUs ?? 0) - 1000 * (serverNow() - ms);
}

/**
 * Passes the traffic to a view until the returned function is called. The page has one connection with one
 * filter: a second follower replaces the first.
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

/** The follower that gets traffic. There is none while the page is hidden. */
function whoFollows(): TrafficFollower | undefined {
  return globalThis.document?.hidden || follower === refused ? undefined : follower;
}

/** Keeps the page's connection open as long as the page exists. */
export async function keepConnected(): Promise<void> {
  globalThis.document?.addEventListener('visibilitychange', () => {
    // A view that started with the next event continues with the next event.
    if (follower?.after === undefined) after = undefined;
    current.abort();
  });
  for await (const step of follow(send, nextConnection, SILENCE_MS)) {
    if (step.kind === 'open') opened();
    else if (step.kind === 'closed') await closed(step);
    else if (served === whoFollows()) {
      const { id, data } = step;
      if (data !== undefined) take(JSON.parse(data) as StreamedView[] | Summary);
      if (id !== undefined && served === follower) after = Number(id);
      if (pending.length >= MOST_PENDING) await nextFrame(0);
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
  if (state === 'connecting' || state === 'open') return;
  isKnown = false;
  comebacks.value++;
}

async function closed({ status, problem }: Extract<Followed, { kind: 'closed' }>): Promise<void> {
  if (status === BAD_REQUEST && served) {
    refused = served;
    if (served === follower) served.onRefused?.(problem);
    return;
  }
  if (status === 0) connection.value = { state: 'lost' };
  else if (problem.code === RESTARTING) connection.value = { state: 'restarting' };
  else connection.value = { state: 'refused', reason: problem.detail };
  await (needsLogIn.value ? loggedIn() : new Promise((resolve) => setTimeout(resolve, RECONNECT_MS)));
}

/** Handles a message: a list is traffic, an object a summary. */
function take(message: StreamedView[] | Summary): void {
  if (!Array.isArray(message)) {
    takeSummary(message);
    return;
  }
  for (const event of message) pending.push(event);
  if (isDue) return;
  isDue = true;
  void nextFrame(nextBatchAt - performance.now()).then(() => {
    isDue = false;
    handOver();
  });
}

function handOver(): void {
  if (!isKnown) return;
  if (after !== undefined) readUpTo.value = after;
  const batch = pending.splice(0);
  nextBatchAt = performance.now() + (batch.length < RUSH ? BATCH_MS : RUSH_MS);
  if (batch.length > 0) follower?.onBatch(batch);
}

function takeSummary(next: Summary): void {
  const offset = Date.parse(next.time) - Date.now();
  // A smaller difference comes from the message's transmission time.
  if (Math.abs(offset - clockOffset.peek()) > 500) clockOffset.value = offset;
  const last = summary.peek();
  summary.value = next;
  isKnown = true;
  if (last && next.program.run !== last.program.run) {
    after = undefined;
    readUpTo.value = 0;
    refused = undefined;
    pending.length = 0;
    // A view that started after an event of the earlier run must start again: the numbers now mean other
    // events.
    if (follower?.after !== undefined) {
      follower = undefined;
      current.abort();
    }
    restarts.value++;
  } else handOver();
}

/** Resolves at the first animation frame after the pause in ms, or a second later if there is none. */
async function nextFrame(pause: number): Promise<void> {
  if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  await new Promise<void>((resolve) => {
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
