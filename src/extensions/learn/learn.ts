import { failure, type Result, success } from '../../common/result.js';
import { DAY_MS } from '../../common/schema/milliseconds.js';
import { counted } from '../../common/words.js';
import { readCapture } from './capture.js';
import { isCapture } from './capture-file.js';
import { conversationOf } from './exchanges.js';
import { learn } from './learned.js';
import { readLog } from './log-lines.js';
import type { LoggedBytes, LogLines } from './logged-bytes.js';
import type { Recorded } from './recording.js';
import { type Learned, writeLearned } from './write.js';

/** The result of learning: a native file, and notes for the user. */
export interface LearnedFile {
  readonly text: string;
  readonly summary: string;
  readonly notes: readonly string[];
  /** The files with frames but no exchange, one sentence each. */
  readonly unused: readonly string[];
  /** Input for `writeScenario` and `checkLearned`. */
  readonly learned: Learned;
}

/**
 * Learns devices from logs and captures in the order of their times.
 * @param recorded set if values and reply times are to be replayed as recorded
 */
export function learnFiles(
  files: readonly Uint8Array[],
  source: string,
  recorded?: Recorded,
): Result<LearnedFile> {
  const logs: LogLines[] = [];
  for (const bytes of files) {
    const read = isCapture(bytes) ? readCapture(bytes) : success(readLog(new TextDecoder().decode(bytes)));
    if (!read.ok) return read;
    logs.push(read.value);
  }
  const frames = following(logs);
  const conversation = conversationOf(frames);
  const { exchanges } = conversation;
  const notes = [...logs.flatMap((log) => log.notes), ...conversation.notes];
  const [first] = frames;
  if (!first) {
    const nothing = files.some(isCapture)
      ? 'no packet contains a Modbus frame'
      : 'no line contains the bytes of a frame';
    return failure([...notes, nothing].join('\n'));
  }
  const isOfCapture = first.text === undefined;
  const place = `${isOfCapture ? 'packet' : 'line'} ${first.line}`;
  if (exchanges.length === 0) {
    const nothing = `nothing was learned from ${counted(frames.length, 'frame')}; the first is in ${place}`;
    return failure([...notes, nothing].join('\n'));
  }
  if (recorded && exchanges.every(({ at }) => at === undefined))
    return failure(
      [...notes, 'the input has no timestamps, so nothing can be played as recorded'].join('\n'),
    );
  const lines = learn(conversation);
  const silent = exchanges.filter(({ reply }) => reply.length === 0).length;
  const units = [...new Set(lines.flatMap(({ devices }) => devices.map(({ unit }) => unit)))].join(', ');
  const learned: Learned = { source, conversation, lines, isCapture: isOfCapture, notes, recorded };
  const summary = `${source}: ${counted(exchanges.length, 'request')} to unit ${units}, ${silent} without a reply`;
  const used = new Set(exchanges.map(({ file }) => file));
  const unused = logs.flatMap((log, file) =>
    log.frames.length > 0 && !used.has(file)
      ? [`nothing was learned from file ${file + 1}, with ${counted(log.frames.length, 'frame')}`]
      : [],
  );
  return success({ text: writeLearned(learned), summary, notes, unused, learned });
}

/**
 * The frames of consecutive files on one time axis. Times of day in logs continue past midnight, and no file
 * begins before the previous one ends.
 */
function following(logs: readonly LogLines[]): LoggedBytes[] {
  let shift = 0;
  let before: { readonly end: number; readonly isLog: boolean } | undefined;
  return logs.flatMap(({ frames }, file) => {
    const first = frames.find(({ at }) => at !== undefined);
    const isLog = first?.text !== undefined;
    if (first?.at !== undefined && before) {
      const late = before.end - first.at - shift;
      if (isLog && before.isLog) shift += DAY_MS * Math.max(0, Math.ceil(late / DAY_MS - 1 / 2));
      // A log has times of day; a capture has dates.
      if (isLog !== before.isLog || first.at + shift < before.end) shift = before.end - first.at;
    }
    const moved = (time: number | undefined) => (time === undefined ? undefined : time + shift);
    const shifted = frames.map((frame) => ({
      ...{ ...frame, file, at: moved(frame.at), until: moved(frame.until) },
    }));
    const end = shifted.reduce((latest, { at = latest }) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
    if (first) before = { end, isLog };
    return shifted;
  });
}

/** Maximum size of a log or a capture, in bytes: learning needs up to twelve times as much memory. */
export const MOST_LEARNED = 16 * 1024 * 1024;

/**
 * A request to `learning`: a piece of the capture or, after the last piece, a request for the next piece of
 * the file. The first of these says how to replay it.
 */
export type ToLearner =
  | { readonly kind: 'capture'; readonly piece: Uint8Array }
  | { readonly kind: 'next'; readonly recorded?: Recorded };

/** A reply from `learning`. The text after the last piece of the file is empty. */
export type LearnedPiece =
  | { readonly kind: 'more' }
  | { readonly kind: 'unusable'; readonly message: string }
  | { readonly kind: 'text'; readonly text: string };

/** Maximum length of a piece, in characters. */
const TEXT_PIECE_LENGTH = 64 * 1024;

/**
 * Learns from traffic whose capture arrives in pieces, and returns the file in pieces. A generator ignores
 * the argument of its first `next`, so start it without a piece.
 */
export function* learning(): Generator<LearnedPiece, LearnedPiece, ToLearner> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let recorded: Recorded | undefined;
  for (;;) {
    const asked = yield { kind: 'more' };
    if (asked.kind === 'next') {
      recorded = asked.recorded;
      break;
    }
    size += asked.piece.length;
    if (size > MOST_LEARNED) {
      const message = `there are more than ${MOST_LEARNED} bytes of traffic: request one line, or a shorter time with since`;
      return { kind: 'unusable', message };
    }
    pieces.push(asked.piece);
  }
  const learned = learnFiles(size > 0 ? [Buffer.concat(pieces.splice(0))] : [], 'the traffic', recorded);
  if (!learned.ok) return { kind: 'unusable', message: learned.error };
  const { text } = learned.value;
  for (let at = 0; at < text.length; at += TEXT_PIECE_LENGTH)
    yield { kind: 'text', text: text.slice(at, at + TEXT_PIECE_LENGTH) };
  return { kind: 'text', text: '' };
}
