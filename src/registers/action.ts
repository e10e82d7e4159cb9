/**
 * What a register does by itself each time a client reads it (pymodbus simulator, "actions").
 * `minval` and `maxval` bound the values of `increment` and `random`.
 */
export type Action =
  | { readonly name: 'increment' | 'random'; readonly minval?: number; readonly maxval?: number }
  | { readonly name: 'reset' | 'timestamp' | 'uptime' };

/** As files name them. */
export const ACTION_NAMES = ['increment', 'random', 'reset', 'timestamp', 'uptime'] as const;

export type ActionName = (typeof ACTION_NAMES)[number];

/** Where actions get what is not in the registers, so that a test decides it. */
export interface ActionSource {
  /** At least 0, below 1. */
  random(): number;
  /** Wall-clock time. */
  now(): Date;
  /** Time since the simulator started, in ms. */
  uptime(): number;
}
