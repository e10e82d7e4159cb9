import type { Line } from '../../simulator/line.js';
import type { Check } from './check.js';
import type { Witness } from './witness/witness.js';

/** What is to be examined. */
export interface ExaminationOrder {
  readonly line: Line;
  /** Only questions to this unit are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  readonly checks: readonly Check[];
  /** In ms; what is not reached by then is not run. */
  readonly limitMs: number;
  readonly seed: number;
  /** What shows the values that the client has read; undefined where nothing does. */
  readonly witness?: Witness | undefined;
}
