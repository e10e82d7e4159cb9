import type { Simulator } from '../../src/simulator/simulator.js';
import type { ReplyEvent } from '../../src/simulator/traffic/event.js';
import { newestFirst } from '../../src/simulator/traffic/reading.js';

/** The completed exchanges, newest first. */
export function exchangesOf({ traffic }: Pick<Simulator, 'traffic'>): ReplyEvent[] {
  return Array.from(newestFirst(traffic, ['reply']));
}

/** How many requests have come to our units. */
export function requestsOf({ traffic }: Pick<Simulator, 'traffic'>): number {
  return Array.from(newestFirst(traffic, ['request', 'broadcast'])).length;
}
