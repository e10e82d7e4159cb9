import type { TrafficEvent } from '../../traffic/event.js';
import type { Outcome } from './check.js';

/** More frames would be read by nobody; the first and the last ones show the most. */
const MOST_FRAMES = 60;

/** The events that show what a check has found, in their order: of exchanges the request and the reply. */
export function framesOf(evidence: Outcome['evidence']): TrafficEvent[] {
  const events = new Map<number, TrafficEvent>();
  for (const each of evidence) {
    for (const event of 'question' in each ? [each.request, each.reply] : [each]) {
      if (event) events.set(event.seq, event);
    }
  }
  const frames = [...events.values()].sort((a, b) => a.seq - b.seq);
  if (frames.length <= MOST_FRAMES) return frames;
  return [...frames.slice(0, MOST_FRAMES / 2), ...frames.slice(-MOST_FRAMES / 2)];
}
