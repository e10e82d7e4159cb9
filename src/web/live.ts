import { signal } from '@preact/signals';
import type { StreamedView } from '../api/v1/traffic-view.js';
import type { Summary } from '../control/schemas/summary.js';
import { SseParser } from '../monitor/sse.js';
import { needsLogIn, type Refusal, refusalOf } from './api.js';
import { setClock } from './clock.js';
import { nextFrame } from './frame.js';

/** How the connection is. `refused`: the server answered, and said no. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'lost' }
  | { readonly state: 'refused'; readonly reason: string };

export const connection = signal<Connection>({ state: 'connecting' });

/** How everything is, once a second; undefined before the first word. */
export const summary = signal<Summary | undefined>(undefined);

/** Counts how often the simulator was found to have been started anew. What was read before does not hold any more. */
export const restarts = signal(0);

/** Counts how often the connection came back. What could not be read without it can be read now. */
export const comebacks = signal(0);

/** Everything up to this sequence number has been read by whoever follows the traffic. */
export const readUpTo = signal(0);

/** Events of one frame, in their order. An event of kind `left out` stands for what the simulator had no room for. */
export type Batch = readonly StreamedView[];

/** A view that is told the traffic. */
interface TrafficFollower {
  /** Filters as `/api/v1/events` takes them: `new URLSearchParams({ line: 'lan' })`. Narrow ones keep the page cheap. */
  readonly filter: URLSearchParams;
  /** Begins after this sequence number; with what comes next where it is absent. */
  readonly after?: number;
  /** Is called once a frame at most. */
  readonly onBatch: (batch: Batch) => void;
  /** Is called when the simulator refuses the filter, as one that names a line which is gone. Nothing is told any more. */
  readonly onRefused?: (problem: Refusal) => void;
}

/** Events that wait for the next frame. With more, nothing is read before it: the simulator waits, and tells what it gave up. */
const MOST_PENDING = 4000;
const BAD_REQUEST = 400;
const RETRY_MS = 1000;
/** A summary comes every second. */
const SILENCE_MS = 5000;

let follower: TrafficFollower | undefined;
let after: number | undefined;
/** Whose filter the simulator refuses, as one that names a line of an earlier run. The page lives on without traffic. */
let refused: TrafficFollower | undefined;
/** Ends the connection that is open, so that the next one begins at once. */
let current = new AbortController();

/**
 * Tells a view the traffic from now on, until the function that is returned is called. One view follows at a time,
 * because one connection has one filter: a second one takes the place of the first.
 */
export function followTraffic(wanted: TrafficFollower): () => void {
  follower = wanted;
  after = wanted.after;
  pending.length = 0;
  current.abort();
  return () => {
    if (follower !== wanted) return;
    follower = undefined;
    pending.length = 0;
    current.abort();
  };
}

/** Nobody sees a page that is hidden: it is told no traffic. */
function whoFollows(): TrafficFollower | undefined {
  return globalThis.document?.hidden || follower === refused ? undefined : follower;
}

function onVisibility(): void {
  // A view that began with what came next goes on with what comes next.
  if (follower?.after === undefined) after = undefined;
  current.abort();
}

/** Keeps the one connection of the page, as long as the page lasts. */
export async function keepConnected(): Promise<never> {
  globalThis.document?.addEventListener('visibilitychange', onVisibility);
  for (;;) {
    const attempt = new AbortController();
    current = attempt;
    const refusal = await connect(attempt.signal).catch(() => undefined);
    const isUnwanted = attempt.signal.aborted;
    // The connection may have fallen silent, and still be open.
    attempt.abort();
    // Another filter is wanted: no reason to wait.
    if (isUnwanted) continue;
    connection.value = refusal === undefined ? { state: 'lost' } : { state: 'refused', reason: refusal };
    await (needsLogIn.value ? loggedIn() : sleep(RETRY_MS));
  }
}

/** Hands on what the server tells. @returns why the server refused; undefined when the connection has ended */
async function connect(signal: AbortSignal): Promise<string | undefined> {
  const told = whoFollows();
  const query = new URLSearchParams(told?.filter);
  query.set('tell', told ? 'traffic,summary' : 'summary');
  if (told && after !== undefined) query.set('after', String(after));
  const response = await fetch(`/api/v1/events?${query}`, { signal });
  if (response.status === BAD_REQUEST && told) {
    refused = told;
    const problem = await refusalOf(response);
    if (told === follower) told.onRefused?.(problem);
    return connect(signal);
  }
  if (!response.ok || !response.body) return (await refusalOf(response)).detail;
  opened();
  const parser = new SseParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await inTime(reader.read());
    if (done) return undefined;
    for (const { id, data } of parser.push(value)) {
      if (told !== whoFollows()) return undefined;
      if (data !== undefined) take(data);
      if (id !== undefined && told === follower) readUpTo.value = after = Number(id);
    }
    if (pending.length >= MOST_PENDING) await nextFrame();
  }
}

function opened(): void {
  const { state } = connection.peek();
  connection.value = { state: 'open' };
  if (state === 'lost' || state === 'refused') comebacks.value++;
}

/** Rejects when nothing came for too long: such a connection is dead, even if nobody has said so. */
function inTime<Value>(read: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('silence')), SILENCE_MS);
  });
  return Promise.race([read, silence]).finally(() => clearTimeout(timer));
}

const pending: StreamedView[] = [];

/** A list is traffic, anything else a summary. */
function take(data: string): void {
  const message = JSON.parse(data) as StreamedView[] | Summary;
  if (!Array.isArray(message)) {
    takeSummary(message);
    return;
  }
  if (pending.length === 0) void nextFrame().then(handOver);
  for (const event of message) pending.push(event);
}

function handOver(): void {
  const batch = pending.splice(0);
  if (batch.length > 0) follower?.onBatch(batch);
}

function takeSummary(next: Summary): void {
  const last = summary.peek();
  setClock(next.time);
  summary.value = next;
  if (last && next.program.run !== last.program.run) {
    after = undefined;
    refused = undefined;
    restarts.value++;
  }
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

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
