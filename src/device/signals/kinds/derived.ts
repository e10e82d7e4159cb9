import { z } from 'zod';
import { number, numberFrom, section, text, UNLIMITED } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { type Course, constant, courseAt, courseFrom, courseIntegral, limitedCourse } from '../course.js';
import { parseExpression } from '../expression/parse.js';
import { gridIntegral } from '../grid-integral.js';
import { MAX_DELAY, MIN_PERIOD, type Pace, type Signal, signal } from '../signal.js';

/** Signals that are made from other values. */
export const DERIVED = {
  counter: signal({
    schema: section(
      {
        from: number.default(0),
        perSecond: number.optional(),
        integral: text('the name of the value to add up').optional(),
        per: duration(MIN_PERIOD).default(1000),
        every: duration(MIN_PERIOD).default(1000),
        rollover: numberFrom(Number.MIN_VALUE, UNLIMITED, 'the value that is 0 again').optional(),
      },
      {
        from: 'The first value.',
        perSecond: 'How much it counts in a second.',
        integral: 'Or the name of a value to add up.',
        per: 'The time in which the named value counts once, in ms: 1h makes kWh of kW.',
        every: 'In which steps it is added up where its exact integral is not known, in ms.',
        rollover: 'At this value it is 0 again.',
      },
    ).refine(({ perSecond, integral }) => (perSecond === undefined) !== (integral === undefined), {
      error: 'expected either perSecond or integral',
    }),
    fits: 'numbers',
    doc: {
      entry: '`counter: {perSecond, from, rollover}`, `counter: {integral, per, every, from, rollover}`',
      value:
        'counts up from `from` (default 0) by `perSecond`, or by the value named `integral` in each `per` (default 1s; with 1h kW become kWh); from `rollover` on it is 0 again. Where the named value has no exact integral, it is added up in steps of `every` (default 1s)',
    },
    needs: ({ integral }) => (integral === undefined ? [] : [integral]),
    start: ({ from, perSecond = 0, integral, per, every, rollover }, { named, pace }) => {
      const rate: Signal =
        integral === undefined
          ? { valueAt: () => perSecond, integral: (start, end) => (perSecond * (end - start)) / 1000 }
          : named(integral);
      return accumulate(rate, {
        from,
        factor: 1000 / per,
        every,
        rollover,
        pace,
        isStraight: integral === undefined,
      });
    },
  }),

  expression: signal({
    schema: z.string({ error: 'an expression, in quotes' }).transform((text, context) => {
      const parsed = parseExpression(text);
      if (!('error' in parsed)) return parsed;
      context.issues.push({ code: 'custom', input: text, message: parsed.error });
      return z.NEVER;
    }),
    fits: 'numbers and bits',
    doc: {
      entry: '`expression: "voltage * current / 1000"`',
      value:
        'computed from other values of the device (`name`), of other devices (`other.name`) and the time in seconds (`t`)',
    },
    needs: ({ names }) => names,
    start: (parsed, { named }) => ({ valueAt: parsed.bind(named) }),
  }),

  follows: signal({
    schema: section(
      {
        name: text('the name of the value to follow'),
        after: duration(0, MAX_DELAY).default(0),
        slew: numberFrom(Number.MIN_VALUE, UNLIMITED, 'a change per second').optional(),
      },
      {
        name: 'The value of the same device that is followed.',
        after: 'How much later, in ms.',
        slew: 'How much it changes in a second at most.',
      },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`follows: {name, after, slew}`',
      value:
        'follows the value `name` of the same device, delayed by `after` (default 0), and by at most `slew` per second. Clients write the value `name`, or it follows another value itself',
    },
    needs: ({ name }) => [name],
    start: ({ name, after, slew }) => {
      // The course changes only when the command changes, never by a read.
      let course: Course = constant(0);
      return {
        valueAt: (time) => courseAt(course, time),
        integral: (from, to) => courseIntegral(course, from, to),
        follower: {
          command: name,
          after,
          courseFrom: (time) => courseFrom(course, time),
          begin(value) {
            course = constant(value);
          },
          follow(command, time) {
            const delayed = courseFrom(command, time - after, after);
            course =
              slew === undefined
                ? delayed
                : limitedCourse(delayed, time, courseAt(course, time), slew / 1000);
          },
        },
      };
    },
  }),
};

interface Accumulation {
  readonly from: number;
  /** How much the count grows per value-second. */
  readonly factor: number;
  readonly every: number;
  readonly rollover: number | undefined;
  readonly pace: Pace;
  /** True for a rate that never changes. */
  readonly isStraight: boolean;
}

function accumulate(rate: Signal, { from, factor, every, rollover, pace, isStraight }: Accumulation): Signal {
  // The origin changes only by a write or a command, never by a read.
  let origin = { time: 0, value: from };
  // The area is created on first use, because the value that is added up may start after this signal.
  let area: Area | undefined;
  const totalAt = (time: number) => {
    area ??= areaFrom(rate, origin.time, every, pace);
    return origin.value + factor * area.areaAt(Math.max(time, origin.time));
  };
  const begin = (time: number, value: number) => {
    origin = { time, value };
    area = undefined;
  };
  return {
    valueAt(time) {
      const total = totalAt(time);
      return rollover === undefined ? total : total - rollover * Math.floor(total / rollover);
    },
    accumulator: {
      settle: (time) => begin(Math.max(time, origin.time), totalAt(time)),
      preset: begin,
      reached(time) {
        // Another counter may add this one up from before the present moment, so a straight line begins where it began.
        if (isStraight) return origin;
        if (rate.integral) return { time: Math.max(time, origin.time), value: totalAt(time) };
        const reached = area?.reached?.();
        return reached ? { time: reached.time, value: origin.value + factor * reached.area } : origin;
      },
    },
  };
}

/**
 * The integral of a signal from a start on. An integral that is added up step by step reports how far it has
 * come.
 */
interface Area {
  areaAt(time: number): number;
  reached?(): { readonly time: number; readonly area: number };
}

function areaFrom(signal: Signal, start: number, every: number, pace: Pace): Area {
  const { integral } = signal;
  return integral ? { areaAt: (time) => integral(start, time) } : gridIntegral(signal, start, every, pace);
}
