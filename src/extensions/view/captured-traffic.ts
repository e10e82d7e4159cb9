import { failure, type Result, success } from '../../common/result.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { trafficView } from '../../simulator/traffic/view.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import { LAST_MOMENT } from '../../simulator/traffic/words.js';
import { readCapture } from '../learn/capture.js';
import { directedBy } from '../learn/directions.js';
import { fits } from '../learn/exchanges.js';
import { CHECKED, formOf, wholeFrames } from '../learn/frames.js';
import type { LoggedBytes } from '../learn/logged-bytes.js';

/** The content of a page made from a file. */
export interface ShownTraffic {
  /** The events, oldest first. */
  readonly events: readonly TrafficView[];
  /** The parts that the page does not show, one sentence each. */
  readonly notes: readonly string[];
}

/** Maximum number of events in a page: a browser reads all of them at once. */
const MOST_EVENTS = 50_000;

/** The last items of a list, as many as fit in a page, and a note on the others. */
export function lastOf<Item>(all: readonly Item[], what: string) {
  const isCut = all.length > MOST_EVENTS;
  const notes = isCut ? [`only the last ${MOST_EVENTS} of ${all.length} ${what} are shown`] : [];
  return { list: isCut ? all.slice(-MOST_EVENTS) : all, notes };
}

/** A frame in a capture, with details of its connection. */
interface CapturedFrame extends LoggedBytes {
  readonly framing: Framing;
  /** The direction of requests on that connection. */
  readonly asks: LoggedBytes['direction'];
}

/** A request that may still get a response. */
interface HeardRequest {
  readonly seq: number;
  readonly at: number;
  readonly request: AduContent;
}

/** The frames in a capture, in the form in which a line in monitor mode reports them. */
export function capturedTraffic(file: Uint8Array): Result<ShownTraffic> {
  const read = readCapture(file);
  if (!read.ok) return read;
  const channels = new Map<string | undefined, LoggedBytes[]>();
  for (const frame of read.value.frames) {
    const known = channels.get(frame.channel);
    if (known) known.push(frame);
    else channels.set(frame.channel, [frame]);
  }
  const frames = [...channels.values()].flatMap(framedChannel);
  const undated = frames.find(({ at = Number.NaN }) => !(at >= 0 && at <= LAST_MOMENT));
  if (undated) return failure(`packet ${undated.line}: its time is not a valid date`);
  if (frames.length === 0) return failure(['has no Modbus frames', ...read.value.notes].join('; '));
  frames.sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || a.line - b.line);
  const { list, notes } = lastOf(frames, 'frames');
  return success({ events: viewsOf(list), notes: [...read.value.notes, ...notes] });
}

/** The frames on a connection, or on the serial lines, in the framing that most of them have. */
function framedChannel(logged: readonly LoggedBytes[]): CapturedFrame[] {
  const framings = logged[0]?.channel === undefined ? CHECKED : [SOCKET, ...CHECKED];
  const all = framings.map((framing) => {
    const whole = wholeFrames(logged, framing);
    return { framing, whole, count: whole.filter(({ bytes }) => framing.decode(bytes)).length };
  });
  const [best] = all.sort((a, b) => b.count - a.count);
  if (!best) return [];
  const { asks, frames } = directedBy(best.whole, best.framing);
  return frames.map((frame) => ({ ...frame, framing: best.framing, asks }));
}

function viewsOf(frames: readonly CapturedFrame[]): TrafficView[] {
  const start = frames[0]?.at ?? 0;
  const events: TrafficEvent[] = [];
  /** The requests on each connection, by transaction identifier. */
  const open = new Map<string | undefined, Map<number, HeardRequest>>();
  return frames.map((frame) => {
    const { at: time = 0, channel } = frame;
    const asked = open.get(channel) ?? new Map<number, HeardRequest>();
    open.set(channel, asked);
    const event = eventOf(frame, { seq: events.length + 1, at: time - start, time }, asked);
    events.push(event);
    return trafficView(event, (seq) => events[seq - 1]);
  });
}

function eventOf(
  { bytes, framing, direction, asks, channel, server }: CapturedFrame,
  when: { readonly seq: number; readonly at: number; readonly time: number },
  open: Map<number, HeardRequest>,
): TrafficEvent {
  const ends = channel?.split(' ').slice(1, 3) ?? [];
  const common = {
    ...when,
    ...{ line: server ?? 'serial', clientId: 0 },
    client: ends.find((end) => end !== server),
    // A capture does not say how long its bytes took on the wire.
    ...{ bytes, framing, startedAt: when.at, pause: undefined, characterTime: 0 },
  };
  const content = framing.decode(bytes);
  if (!content) return { kind: 'damaged', isRest: false, ...common };
  const { unitId, pdu, transactionId } = content;
  const [functionCode = 0] = pdu;
  const before = open.get(transactionId);
  const isAnswer = before?.request.unitId === unitId && fits(content, before.request);
  const isRequest = direction === undefined ? !isAnswer && formOf(content) !== 'reply' : direction === asks;
  if (isRequest) open.set(transactionId, { seq: when.seq, at: when.at, request: content });
  else open.delete(transactionId);
  const answers =
    !isRequest && before && isAnswer ? { seq: before.seq, after: when.at - before.at } : undefined;
  return {
    kind: isRequest ? 'foreign request' : 'foreign response',
    ...common,
    unitId,
    functionCode,
    answers,
  };
}
