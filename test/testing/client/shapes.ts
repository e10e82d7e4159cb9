import { BACK_OFF, type Habits, type ModelQuestion } from './habits.js';

export const ONE: readonly ModelQuestion[] = [{ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 2) }];
export const SEVERAL: readonly ModelQuestion[] = [
  ...ONE,
  { unitId: 1, pdu: Uint8Array.of(3, 0, 10, 0, 4) },
  { unitId: 2, pdu: Uint8Array.of(3, 0, 0, 0, 2) },
];

/** A shape of client, in words and as habits. */
export interface Shape {
  readonly name: string;
  readonly habits: Habits extends infer All ? Partial<All> & Pick<Habits, Known> : never;
}

type Known = 'questions' | 'timeoutMs' | 'periodMs' | 'attempts' | 'rhythm' | 'pausesMs';

const PAUSE_MS = 90;

/** Every combination, which is more than anybody would write down. */
export function shapes(timeouts: readonly number[], periods: readonly number[]): Shape[] {
  const made: Shape[] = [];
  for (const questions of [ONE, SEVERAL])
    for (const timeoutMs of timeouts)
      for (const periodMs of periods)
        for (const attempts of [1, 2, 3, 5])
          for (const backOff of attempts === 1
            ? (['none'] as const)
            : (['none', 'fixed', 'doubling'] as const))
            for (const rhythm of ['after', 'grid'] as const) {
              const pausesMs = BACK_OFF[backOff](PAUSE_MS, attempts);
              const asks = questions === ONE ? 'one question' : 'several';
              const name = `${asks}, time-out ${timeoutMs}, period ${periodMs}, attempts ${attempts}, back-off ${backOff}, ${rhythm}`;
              made.push({ name, habits: { questions, timeoutMs, periodMs, attempts, rhythm, pausesMs } });
            }
  return made;
}
