import type { EventKind, EventOf } from './event.js';
import type { TrafficStream } from './stream.js';

/** Which events are wanted, by their sequence numbers. */
interface Span {
  /** Only those with higher numbers; all when absent. */
  readonly after?: number;
  /** None with a higher number; up to the newest one when absent. */
  readonly until?: number;
}

/**
 * The events of some kinds, the newest first. Each is read when it is asked for, so
 * a slow reader keeps nothing in memory. Events that the stream has given up meanwhile are left out.
 */
export function* newestFirst<Kind extends EventKind>(
  stream: TrafficStream,
  kinds: readonly Kind[],
  { after = 0, until = stream.last }: Span = {},
): Generator<EventOf<Kind>> {
  for (let seq = until; seq > after && seq >= stream.first; seq--) {
    const kind = stream.outline(seq)?.kind;
    if (kind === undefined || !(kinds as readonly string[]).includes(kind)) continue;
    const event = stream.read(seq);
    if (event) yield event as EventOf<Kind>;
  }
}
