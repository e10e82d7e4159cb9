import { decodeEvent, type ReadEvent } from '../../traffic/decode.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../traffic/event.js';

/** One piece of a timing strip. Times are in ms from the first frame of the strip. */
export interface StripPiece {
  readonly from: number;
  readonly to: number;
  /**
   * `spoilt`: a reply that a fault acted on. `silence`: there is no reply. `t35`: the pause that has to be kept after a
   * request.
   */
  readonly kind: 'request' | 'reply' | 'spoilt' | 'damaged' | 'break' | 'silence' | 't35' | 'other';
  /** Sequence number of the event. */
  readonly seq: number;
  /** What the frame says. */
  readonly text: string;
}

/** More frames than this would be too narrow to see. */
const MOST_EVENTS = 24;
/** The specification counts t3.5 in characters (Modbus over Serial Line V1.02, 2.5.1.1). */
const T35_CHARACTERS = 3.5;
/** Above 19200 baud t3.5 is 1.75 ms; a character takes less than this there. */
const FAST_CHARACTER_MS = 0.5;
const FAST_T35_MS = 1.75;

/** The pieces of a strip for the first frames of a finding; empty without frames. */
export function stripOf(events: readonly TrafficEvent[], read: ReadEvent): StripPiece[] {
  const pieces = events.slice(0, MOST_EVENTS).flatMap((event) => piecesOf(event, read));
  const start = Math.min(...pieces.map(({ from }) => from));
  return pieces
    .map((piece) => ({ ...piece, from: piece.from - start, to: piece.to - start }))
    .sort((a, b) => a.from - b.from);
}

function piecesOf(event: TrafficEvent, read: ReadEvent): StripPiece[] {
  const about = { seq: event.seq, text: decodeEvent(event, read).text };
  switch (event.kind) {
    case 'reply':
      return replyPieces(event, about);
    case 'damaged':
    case 'discarded':
      return [{ from: event.startedAt, to: event.at, kind: 'damaged', ...about }];
    case 'request':
    case 'broadcast':
    case 'dropped':
    case 'foreign request':
      return [{ from: event.startedAt, to: event.at, kind: 'request', ...about }, ...silenceAfter(event)];
    case 'foreign response':
    case 'duplicate':
      return [{ from: event.startedAt, to: event.at, kind: 'other', ...about }];
    default:
      return [{ from: event.at, to: event.at, kind: 'other', ...about }];
  }
}

function silenceAfter({ at, seq, characterTime }: FrameEvent): StripPiece[] {
  if (characterTime === 0) return [];
  const t35 = characterTime < FAST_CHARACTER_MS ? FAST_T35_MS : T35_CHARACTERS * characterTime;
  return [{ from: at, to: at + t35, kind: 't35', seq, text: 't3.5' }];
}

function replyPieces(
  { plan, report, at, acted }: ReplyEvent,
  about: Pick<StripPiece, 'seq' | 'text'>,
): StripPiece[] {
  const steps = plan.kind === 'send' ? plan.steps : [];
  const reply = acted.some(({ notAchieved }) => notAchieved === undefined) ? 'spoilt' : 'reply';
  const pieces = steps.flatMap((step, i): StripPiece[] => {
    const done = report.steps[i];
    if (done?.outcome !== 'achieved') return [];
    const kind = step.kind === 'bytes' ? reply : 'break';
    return [{ from: done.achievedAt, to: done.endedAt, kind, ...about }];
  });
  return pieces.length > 0 ? pieces : [{ from: at, to: at, kind: 'silence', ...about }];
}
