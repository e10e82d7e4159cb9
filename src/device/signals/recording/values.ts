import { failure, type Result, success } from '../../../common/result.js';
import { quote } from '../../../common/schema/problem.js';
import type { Track } from '../signal.js';

/** The duration of a single value without an end, in ms. */
const LONE_VALUE = 1000;

const PAIR = /^(\d+(?:\.\d+)?)(?: (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?))?$/;

/**
 * Reads a recording in a text, `0 230, 1.5 231, 60`: times in seconds, starting at 0, each with the value
 * from that time. A last time without a value is the end; otherwise the last value lasts as long as the
 * previous one.
 */
export function readValues(text: string): Result<Track> {
  const times: number[] = [];
  const values: number[] = [];
  let end: number | undefined;
  for (const piece of text.split(',')) {
    const [, seconds, value] = PAIR.exec(piece.trim()) ?? [];
    const time = Math.round(Number(seconds) * 1e6) / 1000;
    const before = times.at(-1);
    const isRead = Number.isFinite(time) && Number.isFinite(Number(value ?? 0));
    if (!isRead || end !== undefined) return failure(`${quote(piece.trim())} is not a time with a value`);
    if (before === undefined ? time !== 0 || value === undefined : time <= before)
      return failure(
        `${quote(piece.trim())} is not ${before === undefined ? 'time 0 with a value' : 'later than the time before it'}`,
      );
    if (value === undefined) end = time;
    else {
      times.push(time);
      values.push(Number(value));
    }
  }
  const last = times.at(-1) as number;
  const length = end ?? (times.length > 1 ? 2 * last - (times.at(-2) as number) : LONE_VALUE);
  return success({ length, rowsAt: () => success({ times, values }) });
}
