import { z } from 'zod';
import { number, section } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import { lastBefore } from '../last-before.js';
import type { Signal, SignalKind } from '../signal.js';
import { MIN_PERIOD } from '../wave.js';

interface Step {
  readonly value: number;
  readonly for?: number | undefined;
}

/** For more steps than this, use a recording with `playback`. */
const MAX_STEPS = 10_000;

/** `steps`: a sequence of values, each held for its own time. */
export const steps: SignalKind<readonly Step[]> = {
  schema: z
    .array(section({ value: number, for: duration(MIN_PERIOD).optional() }), {
      error: 'a list of steps, as in [{value: 1, for: 20s}, {value: 0, for: 1m}]',
    })
    .min(1, { error: 'at least one step' })
    .max(MAX_STEPS, { error: `at most ${MAX_STEPS} steps; a longer list is a file for playback` })
    .superRefine((list, context) => {
      list.slice(0, -1).forEach((step, i) => {
        if (step.for !== undefined) return;
        const message = 'missing, expected a time: only the last step may last forever';
        context.addIssue({ code: 'custom', path: [i, 'for'], message });
      });
    }),
  fits: 'numbers and bits',
  doc: {
    entry: '`steps: [{value, for}, …]`',
    value: 'one value after the other, again and again; a last step without `for` lasts forever',
  },
  start: staircase,
};

function staircase(list: readonly Step[]): Signal {
  const starts: number[] = [];
  /** For each step, the integral of all steps before it. */
  const areas: number[] = [];
  let length = 0;
  let area = 0;
  for (const { value, for: duration = Number.POSITIVE_INFINITY } of list) {
    starts.push(length);
    areas.push(area);
    length += duration;
    area += value * duration;
  }
  const roundsAt = (time: number) => Math.floor(time / length);
  const indexAt = (time: number) => lastBefore(starts, time);
  const areaOf = (time: number) => {
    const rounds = roundsAt(time);
    const rest = rounds === 0 ? time : time - rounds * length;
    const i = indexAt(rest);
    const partial = (areas[i] as number) + (list[i] as Step).value * (rest - (starts[i] as number));
    return rounds === 0 ? partial : rounds * area + partial;
  };
  return {
    valueAt(time) {
      const rounds = roundsAt(time);
      return (list[indexAt(rounds === 0 ? time : time - rounds * length)] as Step).value;
    },
    integral: (from, to) => (areaOf(to) - areaOf(from)) / 1000,
  };
}
