import { sentFrames } from '../modbus/protocol/reply-plan.js';
import type { Clock } from '../modbus/transport/clock.js';
import type { FrameEvent, LineStateEvent, ReplyEvent, TrafficEvent } from '../simulator/traffic/event.js';

/** How long to wait for the replies to the last requests, which belong to the evidence. */
const LAST_REPLIES_MS = 100;

const REQUESTS: ReadonlySet<string> = new Set(['request', 'broadcast', 'dropped', 'foreign request']);

/** True for a request of a client, whether to our devices or to others on the line. */
export function isRequest(event: TrafficEvent): event is FrameEvent {
  return REQUESTS.has(event.kind);
}

/**
 * The PDU of the first frame that was sent as a reply; undefined when none was sent, or the frame is not
 * valid.
 */
export function pduOf({ plan, report, framing }: ReplyEvent): Uint8Array | undefined {
  const [frame] = sentFrames(plan, report);
  return frame && framing.decode(frame)?.pdu;
}

const CLOSED: ReadonlySet<LineStateEvent['state']> = new Set(['lost', 'failed', 'not opened', 'stopped']);

/** Says that an event has closed its line, as a sentence; undefined for any other event. */
export function closedText(event: TrafficEvent): string | undefined {
  const isClosed = event.kind === 'line' && CLOSED.has(event.state);
  return isClosed ? `line ${event.line} was closed: ${event.text}` : undefined;
}

export function lastReplies(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.callAfter(LAST_REPLIES_MS, resolve));
}
