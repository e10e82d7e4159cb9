import type { z } from 'zod';
import { type Kind, kindOf } from '../../common/schema/kind.js';
import type { Course } from './course.js';

/**
 * A value over time, in the unit of its register. Times are in ms since the device's clock began. Reads never
 * change a signal: its value at a time does not depend on earlier reads.
 */
export interface Signal {
  valueAt(time: number): number;
  /** The exact integral between two times, in value-seconds. Absent where there is no closed form. */
  readonly integral?: ((from: number, to: number) => number) | undefined;
  /** Returns why the value is not as intended, for example because a file has vanished. */
  readonly trouble?: () => string | undefined;
  /** Settling and presetting. Only a signal that accumulates has this. */
  readonly accumulator?: Accumulator;
  /** Only a signal that follows another value has this. */
  readonly follower?: Follower | undefined;
  /** Only a signal whose value comes from outside has this. */
  readonly inlet?: Inlet | undefined;
}

/** Where the value of a signal comes from: a topic of an MQTT broker. */
export interface InletSource {
  /** A topic name, without wildcards. */
  readonly topic: string;
  /** Which part of the payload: member names and indices of arrays, outermost first. */
  readonly path: readonly (string | number)[];
}

/** The part of a signal that takes values from outside. */
interface Inlet {
  readonly source: InletSource;
  /** From now on, this is what came. @param at when it came, by a clock that never jumps, in ms */
  take(outcome: number, at: number): void;
  /**
   * Whether nothing came for so long that the value is not available. Absent where the last one stays good.
   */
  readonly isStale?: ((now: number) => boolean) | undefined;
}

/** A sum, and the device's time in ms that it belongs to. */
export interface Reached {
  readonly time: number;
  readonly value: number;
}

/** The part of a signal that adds up another value. */
interface Accumulator {
  /** Fixes the sum up to `time`. Call before a value that the signal depends on is changed from outside. */
  settle(time: number): void;
  /** Continues from `value` at `time`, like a meter whose counter is preset. */
  preset(time: number, value: number): void;
  /**
   * A sum to go on from, as late as it can be had without adding up anything new: `time`, or the last step
   * that was added up.
   */
  reached(time: number): Reached;
}

/**
 * The part of a signal that hears when the value that it follows changes. Times are in ms of the device's
 * clock.
 */
export interface Follower {
  /** The name of the value that is followed. */
  readonly command: string;
  /** How much later the value follows, in ms. */
  readonly after: number;
  /** What the value does from a time on, unless the command changes. */
  courseFrom(time: number): Course;
  /** Puts the value to where it stands at first. */
  begin(value: number): void;
  /** Call at `time`, which is `after` ms after the command began its course. */
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

/** A recording, which need not be in memory as a whole. */
export interface Track {
  /**
   * From the first row to the end of the last one, in ms. The last row lasts as long as the row before it.
   */
  readonly length: number;
  /** Rows around `time` (0 to `length`). The first is not after `time`. Or why the rows can't be read. */
  rowsAt(time: number): TrackRows | string;
}

/** How closely a signal may look at another one whose past it has to make up, so that no read takes long. */
export interface Pace {
  /** How often it looks at most, for one read. */
  readonly steps: number;
  /** The least time between two looks, in ms of the device's clock. */
  readonly width: number;
}

/** The surroundings of a signal, passed when the signal is made for a register. */
interface SignalContext {
  /** The seed of all random values. */
  readonly seed: number;
  /** As it is at the moment: it changes with the clock, and with what else adds up values. */
  readonly pace: Pace;
  /** A value by name: `voltage` of the same device, or `other.voltage`. Every name in `needs` exists. */
  named(name: string): Signal;
  /** The recording that the parameters name. It has already been found and checked. */
  trackOf(source: TrackSource): Track;
}

/** Which registers a kind of signal fits: with `bits`, coils and discrete inputs too. None fits text. */
type Fits = 'numbers' | 'numbers and bits';

/**
 * The shortest period, in ms. Signals are computed when they are read, which is at most about once per ms.
 */
export const MIN_PERIOD = 1;

/** The longest time until something happens: a day in ms. */
export const MAX_DELAY = 86_400_000;

/** One kind of signal. */
interface SignalKind<Parameters> {
  /** The parameters as in files and requests. */
  readonly schema: z.ZodType<Parameters>;
  readonly fits: Fits;
  /** The row of docs/signals.md: how the kind is written, and what the value does. */
  readonly doc: { readonly entry: string; readonly value: string };
  /** The names of the values that the signal depends on. */
  readonly needs?: (parameters: Parameters) => readonly string[];
  /** The recording that the signal plays. */
  readonly plays?: (parameters: Parameters) => TrackSource;
  /** Whether its value may become not available. */
  readonly goesStale?: (parameters: Parameters) => boolean;
  readonly start: (parameters: Parameters, context: SignalContext) => Signal;
}

/** A checked `signal` entry: a kind with its parameters, ready to be started. */
export interface SignalDefinition {
  readonly kind: string;
  /** The parameters as they were written. */
  readonly written: unknown;
  readonly fits: Fits;
  readonly needs: readonly string[];
  readonly plays: TrackSource | undefined;
  readonly goesStale: boolean;
  start(context: SignalContext): Signal;
}

/** An entry of a table of kinds. */
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
