import { z } from 'zod';
import { isMapping, section } from '../../schema/parts.js';
import { expectedMessage, type Path } from '../../schema/problem.js';
import { duration } from '../../schema/units.js';
import { type Expression, parseExpression } from '../../signals/expression/parse.js';
import { unlessWritable } from '../fits.js';
import type { ReactionKind, Use } from '../reaction.js';
import { MAX_DELAY } from '../times.js';

/** A value that is set: a number, or an expression whose names are looked up at that moment. */
type Target = readonly [name: string, value: number | Expression];

interface Step {
  readonly set: readonly Target[];
  readonly after: number;
}

const MAX_STEPS = 100;

const SET = 'names with numbers or expressions, as in {ready: 1, level: "setpoint / 2"}';
const VALUE = 'a number, or an expression in quotes';

const targets = z.unknown().transform((input, context): readonly Target[] => {
  const refuse = (path: Path, message: string) => {
    context.issues.push({ code: 'custom', input, path: [...path], message });
  };
  const entries = isMapping(input) ? Object.entries(input) : [];
  if (entries.length === 0) refuse([], expectedMessage(SET, input));
  return entries.flatMap(([name, value]): Target[] => {
    if (typeof value === 'number' && Number.isFinite(value)) return [[name, value]];
    if (typeof value === 'boolean') return [[name, Number(value)]];
    if (typeof value !== 'string') {
      refuse([name], expectedMessage(VALUE, value));
      return [];
    }
    const parsed = parseExpression(value);
    if (!('error' in parsed)) return [[name, parsed]];
    refuse([name], parsed.error);
    return [];
  });
});

/** `onWrite`: a write sets other values of the device, at once or later. */
export const onWrite: ReactionKind<readonly Step[]> = {
  schema: z
    .array(section({ set: targets, after: duration(0, MAX_DELAY).default(0) }), {
      error: 'a list of changes, as in [{set: {ready: 1}, after: 2s}]',
    })
    .min(1, { error: 'at least one change' })
    .max(MAX_STEPS, { error: `at most ${MAX_STEPS} changes` }),
  doc: {
    entry: '`onWrite: [{set: {ready: 1, level: "setpoint / 2"}, after: 2s}]`',
    effect:
      'each write sets other values of the device, `after` that time (default 0). An expression is computed when its value is set',
  },
  whyUnfit: unlessWritable,
  uses: (steps) =>
    steps.flatMap(({ set }, i) =>
      set.flatMap(([name, value]): Use[] => {
        const path = [i, 'set', name];
        const read = typeof value === 'number' ? [] : value.names;
        return [{ as: 'set', place: name, path }, ...read.map((place): Use => ({ as: 'read', place, path }))];
      }),
    ),
  start: (steps, { named, now, set, later }) => {
    const computed = (value: number | Expression) => {
      if (typeof value === 'number') return () => value;
      return value.bind((name) => {
        const signal = named(name);
        return (time) => signal.valueAt(time);
      });
    };
    const ready = steps.map((step) => ({
      after: step.after,
      targets: step.set.map(([name, value]) => ({ name, valueAt: computed(value) })),
    }));
    return {
      written() {
        for (const { after, targets } of ready) {
          later(after, () => {
            // All expressions of a change are computed before the first value is set.
            const values = targets.map(({ valueAt }) => valueAt(now()));
            targets.forEach(({ name }, i) => {
              set(name, values[i] as number);
            });
          });
        }
      },
    };
  },
};
