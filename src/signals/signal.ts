import type { z } from 'zod';
import type { Track, TrackSource } from './recording/track.js';

/**
 * A value over time, in the unit of its register. Times are in ms since the device's clock began. A signal keeps
 * nothing that a read could change: its value at a time is the same whatever was read before.
 */
export interface Signal {
  valueAt(time: number): number;
  /** The exact integral between two times, in value-seconds. Absent where there is no closed form. */
  readonly integral?: ((from: number, to: number) => number) | undefined;
  /** Says why the value is not what it should be, such as a file that has vanished. */
  readonly trouble?: () => string | undefined;
  /** What a change of the values it depends on needs, and presetting; only a signal that accumulates has it. */
  readonly accumulator?: Accumulator;
}

/** The part of a signal that adds up another value. */
interface Accumulator {
  /** Keeps what was added up until `time`; call it before a value that it depends on is changed from outside. */
  settle(time: number): void;
  /** Goes on from `value` at `time`, as a meter does whose counter is preset. */
  preset(time: number, value: number): void;
}

/** What a signal is given when it is made for a register. */
export interface SignalContext {
  /** Decides all random values. */
  readonly seed: number;
  /** The value of that name: `voltage` of the same device, or `other.voltage`. Every name in `needs` has one. */
  named(name: string): Signal;
  /** The recording that the parameters name; it was found and checked before. */
  trackOf(source: TrackSource): Track;
}

/** Which registers a kind of signal fits: with `bits`, coils and discrete inputs too. None fits text. */
export type Fits = 'numbers' | 'numbers and bits';

/**
 * One kind of signal. A kind is a file of its own in `kinds/` and a line in `kinds.ts`.
 */
export interface SignalKind<Parameters> {
  /** The parameters as in files and requests. */
  readonly schema: z.ZodType<Parameters>;
  readonly fits: Fits;
  /** The row of docs/signals.md: how the kind is written, and what the value does. */
  readonly doc: { readonly entry: string; readonly value: string };
  /** The names of the values that the signal depends on. */
  readonly needs?: (parameters: Parameters) => readonly string[];
  /** The recording that the signal plays. */
  readonly plays?: (parameters: Parameters) => TrackSource;
  readonly start: (parameters: Parameters, context: SignalContext) => Signal;
}
