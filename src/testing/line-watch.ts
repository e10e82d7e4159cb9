import type { LineStateEvent, TrafficEvent } from '../traffic/event.js';
import type { Clock } from '../transport/clock.js';

/** Replies to the last requests are waited for so long, because they belong to the evidence. */
const LAST_REPLIES_MS = 100;

const CLOSED: ReadonlySet<LineStateEvent['state']> = new Set(['lost', 'failed', 'not opened', 'stopped']);

/** Says that an event has closed its line, as a sentence; undefined for any other event. */
export function closedText(event: TrafficEvent): string | undefined {
  const isClosed = event.kind === 'line' && CLOSED.has(event.state);
  return isClosed ? `line ${event.line} was closed: ${event.text}` : undefined;
}

export function lastReplies(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.callAfter(LAST_REPLIES_MS, resolve));
}
