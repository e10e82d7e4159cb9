import { duration } from '../../schema/duration.js';
import type { FaultKind } from '../kind.js';
import { stepsOf, withSteps } from '../plan.js';

/** `break: ms`: the line is held in the break state for `ms` before the reply, or instead of one. */
export const serialBreak: FaultKind<number> = {
  does: 'Holds the line in the break state for this time, before the reply or in place of it (real serial ports).',
  schema: duration(),
  needs: 'break',
  apply(plan, ms) {
    const [first, ...rest] = stepsOf(plan);
    const step = { kind: 'break', waitMs: first?.waitMs ?? 0, ms } as const;
    return withSteps(plan, first ? [step, { ...first, waitMs: 0 }, ...rest] : [step]);
  },
};
