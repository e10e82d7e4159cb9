import type { z } from 'zod';
import { randomAt } from '../../common/random.js';
import type { Result } from '../../common/result.js';
import { type Kind, kindOf } from '../../common/schema/parts.js';

/** A straight line that a value follows, starting at `time` (in ms). `rate` is the change per ms. */
interface CoursePiece {
  readonly time: number;
  readonly value: number;
  readonly rate: number;
}

/** The values over time: straight lines in order of time. The last line has no end. */
export type Course = readonly CoursePiece[];

/** Creates the course of a constant value. */
export function constant(value: number): Course {
  return [{ time: 0, value, rate: 0 }];
}

/** Returns the value at a time. Before the first line, this is the first value. */
export function courseAt(course: Course, time: number): number {
  return onLine(pieceAt(course, time), time);
}

/** Returns the integral between two times, in value-seconds. */
export function courseIntegral(course: Course, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; ) {
    const next = course.find(({ time }) => time > at)?.time ?? to;
    const end = Math.min(next, to);
    const piece = pieceAt(course, at);
    // The value is constant before the first line, so both ends are taken from the same line.
    sum += ((onLine(piece, at) + onLine(piece, end)) / 2) * (end - at);
    at = end;
  }
  return sum / 1000;
}

/** Returns the rest of the course after `time`, `delay` ms later. */
export function courseFrom(course: Course, time: number, delay = 0): Course {
  const piece = pieceAt(course, time);
  const first = { time, value: onLine(piece, time), rate: piece.time > time ? 0 : piece.rate };
  return [first, ...course.filter((each) => each.time > time)].map((each) => ({
    ...each,
    time: each.time + delay,
  }));
}

/**
 * Returns the course of a value that is at `value` at `time`, and then approaches another course by at most
 * `most` per ms.
 */
export function limitedCourse(target: Course, time: number, value: number, most: number): Course {
  const limited: CoursePiece[] = [];
  const pieces = courseFrom(target, time);
  let now = time;
  let here = Number.isFinite(value) ? value : courseAt(target, time);
  pieces.forEach((piece, i) => {
    const end = pieces[i + 1]?.time ?? Number.POSITIVE_INFINITY;
    while (now < end) {
      const gap = onLine(piece, now) - here;
      const isThere = gap === 0 && Math.abs(piece.rate) <= most;
      const rate = isThere ? piece.rate : most * Math.sign(gap || piece.rate);
      limited.push({ time: now, value: here, rate });
      const wait = gap / (rate - piece.rate);
      const meeting = now + wait;
      if (gap !== 0 && wait >= 0 && meeting < end) {
        now = meeting;
        here = onLine(piece, meeting);
      } else {
        here += rate * (end - now);
        now = end;
      }
    }
  });
  return limited;
}

function pieceAt(course: Course, time: number): CoursePiece {
  return course.findLast((piece) => piece.time <= time) ?? (course[0] as CoursePiece);
}

function onLine({ time, value, rate }: CoursePiece, at: number): number {
  return at <= time || rate === 0 ? value : value + rate * (at - time);
}

/**
 * A value over time, in the unit of its register. Times are in ms since the device's clock began. Reads never
 * change a signal: its value at a time does not depend on earlier reads.
 */
export interface Signal {
  valueAt(time: number): number;
  /** Returns the exact integral between two times, in value-seconds. Absent if there is no closed form. */
  readonly integral?: ((from: number, to: number) => number) | undefined;
  /** The earliest time for which the value can be recomputed; absent if that is any time. */
  readonly since?: () => number;
  /** Returns why the value is not as intended, for example because a file has vanished. */
  readonly trouble?: () => string | undefined;
  /** Settles and presets the sum. Only on a signal that accumulates. */
  readonly accumulator?: Accumulator;
  /** Only on a signal that follows another value. */
  readonly follower?: Follower | undefined;
  /** Only on a signal whose value comes from outside. */
  readonly inlet?: Inlet | undefined;
}

/** The source of a signal's value: a topic of an MQTT broker. */
export interface InletSource {
  /** The name of a topic, without wildcards. */
  readonly topic: string;
  /** The part of the payload: member names and array indices, outermost first. */
  readonly path: readonly (string | number)[];
}

/** The part of a signal that accepts values from outside. */
interface Inlet {
  readonly source: InletSource;
  /**
   * Makes a received number the value from now on.
   * @param at when the number arrived, in ms of a clock that never jumps
   */
  take(outcome: number, at: number): void;
  /**
   * Reports whether the last number is too old, so that the value is not available. Absent if the last value
   * never gets old.
   */
  readonly isStale?: ((now: number) => boolean) | undefined;
}

/** A sum, and the device's time in ms that it belongs to. */
export interface Reached {
  readonly time: number;
  readonly value: number;
}

/** The part of a signal that accumulates another value. */
interface Accumulator {
  /**
   * Makes the sum up to `time` final. Call this before a value that the signal depends on is changed from
   * outside.
   */
  settle(time: number): void;
  /** Continues from `value` at `time`, like a meter whose counter is preset. */
  preset(time: number, value: number): void;
  /**
   * Returns a sum to continue from, as late as possible without any further computation: at `time`, or at the
   * last step included in the sum.
   */
  reached(time: number): Reached;
}

/**
 * The part of a signal that is notified when the value that it follows changes. Times are in ms of the
 * device's clock.
 */
export interface Follower {
  /** The name of the value that is followed. */
  readonly command: string;
  /** How long this value waits before it follows, in ms. */
  readonly after: number;
  /** Returns the course of the value from a time on, unless the command changes. */
  courseFrom(time: number): Course;
  /** Sets the initial value of the signal. */
  begin(value: number): void;
  /**
   * Follows a new course of the command. Call this at `time`, which is `after` ms after the command began its
   * course.
   */
  follow(command: Course, time: number): void;
}

/** The source of a recording: a CSV file, its time column and its value column. */
export interface TrackSource {
  readonly file: string;
  readonly time: string;
  readonly column: string;
}

/** Consecutive rows of a recording. Times are in ms since its first row and never go back. */
export interface TrackRows {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** A recording, which need not be completely in memory. */
export interface Track {
  /** The time from the first row to the end of the last row, in ms. The last row lasts as long as the previous one. */
  readonly length: number;
  /**
   * Returns rows around `time` (0 to `length`), beginning with one that is not after `time`, or why the rows
   * can't be read.
   */
  rowsAt(time: number): Result<TrackRows>;
}

/** How closely a signal may sample another signal when it catches up on the past, so that no read takes long. */
export interface Pace {
  /** The maximum number of samples per read. */
  readonly steps: number;
  /** The minimum time between two samples, in ms of the device's clock. */
  readonly width: number;
}

/** The environment of a signal, passed when the signal is created for a register. */
interface SignalContext {
  readonly seed: number;
  /** The present pace. It changes with the clock, and with the number of accumulating values. */
  readonly pace: Pace;
  /**
   * Returns a value by name: `voltage` of the same device, or `other.voltage`. Every name in `needs` exists.
   */
  named(name: string): Signal;
  /** Returns the recording named in the parameters. It has already been found and checked. */
  trackOf(source: TrackSource): Track;
}

/** The registers that a kind of signal fits: with `bits`, also coils and discrete inputs. No kind fits text. */
type Fits = 'numbers' | 'numbers and bits';

/**
 * The shortest period, in ms. Signals are computed when they are read, which is at most about once per ms.
 */
export const MIN_PERIOD = 1;

/** The longest delay before something happens, in ms: a day. */
export const MAX_DELAY = 86_400_000;

interface SignalKind<Parameters> {
  readonly schema: z.ZodType<Parameters>;
  readonly fits: Fits;
  /** The row of docs/signals.md: how the kind is written, and what the value does. */
  readonly doc: { readonly entry: string; readonly value: string };
  /** Returns the names of the values that the signal depends on. */
  readonly needs?: (parameters: Parameters) => readonly string[];
  /** Returns the recording that the signal plays. */
  readonly plays?: (parameters: Parameters) => TrackSource;
  /** Reports whether the value may become unavailable. */
  readonly goesStale?: (parameters: Parameters) => boolean;
  readonly start: (parameters: Parameters, context: SignalContext) => Signal;
}

/** A checked `signal` entry: a kind with its parameters, ready to be started. */
export interface SignalDefinition {
  readonly kind: string;
  readonly written: unknown;
  readonly fits: Fits;
  readonly needs: readonly string[];
  readonly plays: TrackSource | undefined;
  readonly goesStale: boolean;
  start(context: SignalContext): Signal;
}

/** Creates an entry of a table of kinds. */
export function signal<Parameters>({
  schema,
  fits,
  doc,
  needs,
  plays,
  goesStale,
  start,
}: SignalKind<Parameters>): Kind<SignalDefinition> & {
  readonly doc: { readonly entry: string; readonly value: string };
} {
  const kind = kindOf(schema, (parameters, entry) => ({
    ...entry,
    fits,
    needs: needs?.(parameters) ?? [],
    plays: plays?.(parameters),
    goesStale: goesStale?.(parameters) ?? false,
    start: (context: SignalContext) => start(parameters, context),
  }));
  return { ...kind, doc };
}

/** A line of a time grid, and the value of a signal at the line. */
interface Look {
  readonly line: number;
  readonly value: number;
}

/**
 * Yields the values at the lines after `from` up to `to`, in the order of the lines. If there are more than
 * `most`, it yields at most `most` of them, including the last line; these lines are not equidistant, so that
 * no period of the signal is missed between them. The last line is evaluated first, so that a signal that
 * itself accumulates others catches up on its past once, instead of for each line.
 */
export function* looksUntil(
  valueOfLine: (line: number) => number,
  from: number,
  to: number,
  most: number,
): Generator<Look> {
  const last = { line: to, value: valueOfLine(to) };
  const width = Math.max(1, (to - from) / most);
  for (let i = 1, before = from; i < Math.min(most, to - from); i++) {
    const shift = width === 1 ? 0 : randomAt(0, i) - 0.5;
    const line = Math.min(from + Math.round((i + shift) * width), to - 1);
    if (line <= before) continue;
    before = line;
    yield { line, value: valueOfLine(line) };
  }
  yield last;
}

/** Returns how many samples of a value are allowed between two times of the device's clock, in ms; at least one. */
export function looksWithin({ steps, width }: Pace, from: number, to: number): number {
  return Math.max(1, Math.min(steps, Math.ceil((to - from) / width)));
}
