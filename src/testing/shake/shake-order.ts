import type { Line } from '../../simulator/line.js';
import type { Observer } from '../examine/observer/observer.js';
import type { RunAbout } from '../report/report.js';
import type { Schedule } from './move.js';

/** How long a client is shaken, in ms, unless somebody says otherwise. */
export const DEFAULT_SHAKE_MS = 1_800_000;

/** Which client is shaken, and how. */
export interface ShakeOrder {
  readonly line: Line;
  /** The unit whose requests are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  /** How long it may take, with shrinking, in ms. */
  readonly limitMs: number;
  /** The same seed tries the same moves. */
  readonly seed: number;
  /** How many moves are tried at most; without a limit when undefined. */
  readonly mostMoves?: number | undefined;
  /** A schedule to be played in place of drawn ones; undefined to draw. */
  readonly replay?: Schedule | undefined;
  /** What the tester says about it; undefined when nothing. */
  readonly about?: RunAbout | undefined;
  /** Shows the values that the client has read; undefined when nothing does. */
  readonly observer?: Observer | undefined;
  /**
   * Starts the client again, also one that runs; undefined when nobody can.
   * @returns why that was not possible; undefined when it was
   */
  readonly restart?: (() => Promise<string | undefined>) | undefined;
  /** What the scenario says of its bench: `configuration` and `dut`; empty for a bench that runs already. */
  readonly bench?: { readonly configuration?: string; readonly dut?: object } | undefined;
}
