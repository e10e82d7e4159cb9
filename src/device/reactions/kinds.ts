import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { isMapping, number, section, text } from '../../common/schema/parts.js';
import { expectedMessage, type Path } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import { documentAs } from '../../common/schema/written-as.js';
import { type Expression, parseExpression } from '../signals/expression/parse.js';
import { looksUntil, looksWithin, MAX_DELAY, MIN_PERIOD, type Pace, type Signal } from '../signals/signal.js';
import {
  type ReactingEntry,
  type ReactionDefinition,
  reaction,
  type Use,
  unlessCoil,
  unlessWritable,
} from './reaction.js';

import { REFUSALS } from './refusals.js';

const LATCH = 'true, or the interval at which the signal is checked, as in {every: 1s}';

/** How often the signal of a latch is checked unless the entry says otherwise, in ms. */
const EVERY = 1000;

/** A value to set, with a number or an expression whose names are looked up when it is set. */
type Target = readonly [name: string, value: number | Expression];

const MAX_STEPS = 100;

const SET = 'numbers or expressions by name, as in {ready: 1, level: "setpoint / 2"}';
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

documentAs(targets, () =>
  z.record(z.string(), z.union([z.number(), z.boolean(), z.string()])).meta({ minProperties: 1 }),
);

/** The maximum number of values whose writes renew another one. */
const MAX_RENEWING = 16;
const OWN_NAMES = `a list of at most ${MAX_RENEWING} names of values in the same device`;
const ownName = text('the name of a value in the same device').regex(/^[^.]+$/, {
  error: 'a name in the same device, without a dot',
});

const EFFECTS = {
  pulse: reaction({
    schema: duration(MIN_PERIOD, MAX_DELAY),
    doc: {
      entry: '`pulse: 500ms`',
      effect: 'a coil that was set falls back after this time; setting it again restarts the timer',
    },
    whyUnfit: (entry) =>
      unlessCoil(entry) ??
      (entry.movedBy && `can't be used with ${entry.movedBy}: a pulse starts with a write`),
    causes: () => 1,
    start: (ms, context) => {
      let callOff: (() => void) | undefined;
      return {
        written() {
          callOff?.();
          callOff = context.value === 0 ? undefined : context.later(ms, () => context.show(0));
        },
      };
    },
  }),

  latch: reaction({
    schema: z.union(
      [
        z.literal(true, { error: LATCH }).transform(() => ({ every: EVERY })),
        section(
          { every: duration(MIN_PERIOD, MAX_DELAY) },
          { every: 'Interval at which the signal is checked, in ms.' },
        ),
      ],
      { error: LATCH },
    ),
    doc: {
      entry: '`latch: true`, `latch: {every: 100ms}`',
      effect:
        'once its signal or another reaction has set the coil, it stays set until it is written. The signal is checked once per `every` (default 1s)',
    },
    whyUnfit: (entry) => {
      if (entry.movedBy === 'follows' || entry.movedBy === 'action') {
        return `can't be used with ${entry.movedBy}: a latch needs a signal, or is set by onWrite`;
      }
      if (entry.reactions.includes('pulse')) return "can't be used with pulse: a latch does not fall back";
      return unlessCoil(entry) ?? unlessWritable(entry);
    },
    start: ({ every }, context) => ({
      kept: (next) => (context.value === 0 ? next : 1),
      around: (signal) => latched(signal, every, context.pace),
    }),
  }),

  fallsBack: reaction({
    schema: section(
      {
        after: duration(MIN_PERIOD, MAX_DELAY),
        to: number.optional(),
        renewedBy: z.array(ownName, { error: OWN_NAMES }).max(MAX_RENEWING, { error: OWN_NAMES }).default([]),
        enabledBy: ownName.optional(),
      },
      {
        after: 'How long the value is kept without a write, in ms.',
        to: 'The value that it falls back to (default: the value in the file).',
        renewedBy: 'Other values that, when written, also restart the timer, such as a heartbeat.',
        enabledBy: 'The value falls back only while this one is not 0.',
      },
    ),
    doc: {
      entry: '`fallsBack: {after: 60s, to: 6, renewedBy: [heartbeat], enabledBy: watchdog}`',
      effect:
        'a watchdog: unless this value, or one of `renewedBy`, is written again within this time, it becomes `to` (default: the value in the file). It does not fall back while `enabledBy` is 0. A write to `enabledBy` or a start of the device also restarts the timer',
    },
    whyUnfit: (entry) =>
      unlessWritable(entry) ??
      (entry.type === 'string' ? 'expected a number, got text' : undefined) ??
      (entry.movedBy && `can't be used with ${entry.movedBy}: only a written value can fall back`),
    uses: ({ renewedBy, enabledBy }) => [
      ...renewedBy.map((target, i): Use => ({ as: 'watched', target, path: ['renewedBy', i] })),
      ...(enabledBy === undefined
        ? []
        : [{ as: 'watched', target: enabledBy, path: ['enabledBy'] } satisfies Use]),
    ],
    start: ({ after, to, renewedBy, enabledBy }, context) => {
      const { named, now, stored } = context;
      const fallback = stored(to ?? context.value);
      let renewedAt = 0;
      let callOff: (() => void) | undefined;
      let isWatching = false;
      // A heartbeat may renew many values, so a renewal only records its time; a timer that fires too early
      // waits again.
      const fall = () => {
        callOff = undefined;
        const left = renewedAt + after - now();
        if (left > 0) {
          callOff = context.timer(left, fall);
          return;
        }
        const isEnabled = enabledBy === undefined || named(enabledBy).valueAt(now()) !== 0;
        if (isEnabled && context.value !== fallback) context.show(fallback);
      };
      const renew = () => {
        renewedAt = now();
        callOff ??= context.timer(after, fall);
      };
      return {
        written: renew,
        begun() {
          callOff?.();
          callOff = undefined;
          renew();
          if (isWatching) return;
          isWatching = true;
          for (const name of [...renewedBy, ...(enabledBy === undefined ? [] : [enabledBy])])
            context.whenWritten(name, renew);
        },
      };
    },
  }),

  busyFor: reaction({
    schema: duration(MIN_PERIOD, MAX_DELAY),
    doc: {
      entry: '`busyFor: 500ms`',
      effect:
        'after a write, the device refuses all writes for this time with exception 06; reads are answered',
    },
    whyUnfit: unlessWritable,
    start: (ms, { busy }) => ({ written: () => busy(ms) }),
  }),

  onWrite: reaction({
    schema: z
      .array(
        section(
          { set: targets, after: duration(0, MAX_DELAY).default(0) },
          {
            set: 'Values by name, as in {ready: 1, level: "setpoint / 2"}.',
            after: 'Delay after the write, in ms.',
          },
        ),
        {
          error: 'a list of changes, as in [{set: {ready: 1}, after: 2s}]',
        },
      )
      .min(1, { error: 'at least one change' })
      .max(MAX_STEPS, { error: `at most ${MAX_STEPS} changes` }),
    doc: {
      entry: '`onWrite: [{set: {ready: 1, level: "setpoint / 2"}, after: 2s}]`',
      effect:
        'each write also sets the values in `set`, after a delay of `after` (default 0). An expression is computed when its value is set',
    },
    whyUnfit: unlessWritable,
    uses: (steps) =>
      steps.flatMap(({ set }, i) =>
        set.flatMap(([name, value]): Use[] => {
          const path = [i, 'set', name];
          const read = typeof value === 'number' ? [] : value.names;
          return [
            { as: 'set', target: name, path },
            ...read.map((target): Use => ({ as: 'read', target, path })),
          ];
        }),
      ),
    causes: (steps) => steps.length,
    start: (steps, { named, now, set, later }) => {
      const computed = (value: number | Expression) =>
        typeof value === 'number' ? () => value : value.bind(named);
      const ready = steps.map((step) => ({
        after: step.after,
        names: step.set.map(([name]) => name),
        targets: step.set.map(([name, value]) => ({ name, valueAt: computed(value) })),
      }));
      return {
        written() {
          for (const { after, names, targets } of ready) {
            const change = () => {
              // All expressions of a change are computed before the first value is set.
              const values = targets.map(({ valueAt }) => valueAt(now()));
              targets.forEach(({ name }, i) => {
                set(name, values[i] as number);
              });
            };
            later(after, change, names);
          }
        },
      };
    },
  }),
};

/**
 * Creates a signal that is 1 from the first moment at which `signal` is set, and 0 before. The signal is
 * checked on a fixed grid, like the cycle of a controller, so earlier reads do not change the result, unless
 * a read has more to catch up on than the pace allows.
 */
function latched(signal: Signal, every: number, pace: Pace): Signal {
  let since = Number.POSITIVE_INFINITY;
  let from = 0;
  /** The next grid line to check. */
  let line = 0;
  const lookUntil = (time: number) => {
    const last = Math.floor(time / every);
    if (since !== Number.POSITIVE_INFINITY || last < line) return;
    const most = looksWithin(pace, (line - 1) * every, last * every);
    for (const look of looksUntil((at) => signal.valueAt(at * every), line - 1, last, most)) {
      if (Math.round(look.value) < 1) continue;
      since = look.line * every;
      break;
    }
    line = last + 1;
  };
  return {
    inlet: signal.inlet,
    since: () => from,
    valueAt(time) {
      lookUntil(time);
      return Number(time >= since);
    },
    accumulator: {
      settle: lookUntil,
      preset(time, value) {
        from = time;
        since = value >= 1 ? time : Number.POSITIVE_INFINITY;
        line = Math.floor(time / every) + 1;
      },
      reached: () =>
        since === Number.POSITIVE_INFINITY
          ? { time: (line - 1) * every, value: 0 }
          : { time: since, value: 1 },
    },
  };
}

/** Every kind of reaction by its key in an entry. To add one, add an entry to one of these tables. */
const KINDS = Object.entries({ ...REFUSALS, ...EFFECTS });

/** The keys of an entry that are reactions. */
export const REACTIONS: readonly string[] = KINDS.map(([name]) => name);

/** The kinds with the schemas of their parameters, and with their rows of docs/reactions.md. */
export const REACTION_KINDS = KINDS.map(([name, { doc, schema }]) => ({ name, schema, ...doc }));

/** Reads the reactions in an entry. Those with mistakes are reported and left out. */
export function readReactions(at: At, entry: Omit<ReactingEntry, 'reactions'>): ReactionDefinition[] {
  const reactions = REACTIONS.filter((key) => at.key(key).value !== undefined);
  return KINDS.flatMap(([name, kind]) =>
    reactions.includes(name) ? (kind.read(at.key(name), name, { ...entry, reactions }) ?? []) : [],
  );
}
