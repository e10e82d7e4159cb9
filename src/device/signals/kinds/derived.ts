import { z } from 'zod';
import { number, numberFrom, section, text, UNLIMITED } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { parseExpression } from '../expression/parse.js';
import {
  type Course,
  constant,
  courseAt,
  courseFrom,
  courseIntegral,
  limitedCourse,
  looksUntil,
  looksWithin,
  MAX_DELAY,
  MIN_PERIOD,
  type Pace,
  type Signal,
  signal,
} from '../signal.js';

/** A grid line, with the sum up to the line and the signal's value at the line. */
interface Node {
  readonly line: number;
  readonly sum: number;
  readonly value: number;
  /** True if nodes between the previous one and this one were dropped. Then only the mean of that part is known. */
  readonly isThinned: boolean;
}

interface GridIntegral {
  /** Returns the integral up to a time, in value-seconds. */
  areaAt(time: number): number;
  /** Returns the last grid line included in the sum, and the integral up to it. */
  reached(): { readonly time: number; readonly area: number };
}

/** The minimum number of nodes kept. */
const LEAST_KEPT = 8;

/**
 * Returns the integral of a signal starting at `start`, in value-seconds, by the trapezoidal rule on a fixed
 * grid with a line every `every` ms. Within a step the signal is taken as a straight line, so the integral
 * never jumps. The integral of a signal that is never negative never falls.
 *
 * A read evaluates the signal at the lines since the previous read. If there are more lines than the pace
 * allows, it evaluates only as many as allowed, and takes the signal as straight lines between them.
 * Evaluated lines are kept as nodes, and are not evaluated again for an earlier time; when there are many
 * nodes, every other one of the older nodes is dropped. Reads never change the result, not even its last bit,
 * as long as no read has more lines to evaluate than the pace allows, and none is for a time more than twice
 * that many lines back.
 */
function gridIntegral(signal: Signal, start: number, every: number, pace: Pace): GridIntegral {
  const valueOfLine = (line: number) => signal.valueAt(start + line * every);
  let nodes: Node[] = [];
  /** The last line that is not after any requested time. */
  let reached = 0;

  const extend = (to: number) => {
    let { line, sum, value } = nodes.at(-1) as Node;
    for (const next of looksUntil(valueOfLine, line, to, looksWithin(pace, line * every, to * every))) {
      sum += (next.line - line) * ((value + next.value) / 2);
      ({ line, value } = next);
      nodes.push({ line, sum, value, isThinned: false });
    }
    const kept = Math.max(pace.steps, LEAST_KEPT);
    if (nodes.length > 2 * kept) nodes = thinned(nodes, nodes.length - kept);
  };

  /** Returns the sum up to a line, or up to a place between two lines, which must not be after the last node. */
  const sumAt = (place: number): number => {
    const i = nodeBefore(nodes, place);
    const { line, sum, value } = nodes[i] as Node;
    const next = nodes[i + 1];
    if (!next || place <= line) return sum;
    const width = next.line - line;
    const share = (place - line) / width;
    if (next.isThinned) return sum + share * (next.sum - sum);
    return sum + width * (share * value + (share ** 2 / 2) * (next.value - value));
  };

  const areaAt = (time: number): number => {
    const place = (time - start) / every;
    const line = Math.floor(place);
    const until = Math.ceil(place);
    if (nodes.length === 0) nodes.push({ line: 0, sum: 0, value: valueOfLine(0), isThinned: false });
    // The later line is evaluated first, so that the signal catches up on its own sum at once instead of line
    // by line.
    const { line: last } = nodes.at(-1) as Node;
    if (line > last) {
      if (until > line) valueOfLine(until);
      extend(line);
    }
    if (until > Math.max(last, line)) extend(until);
    reached = Math.max(reached, line);
    return (sumAt(place) * every) / 1000;
  };
  return {
    areaAt,
    reached: () => ({
      time: start + reached * every,
      area: nodes.length === 0 ? 0 : (sumAt(reached) * every) / 1000,
    }),
  };
}

/** Returns every other one of the first `count` nodes, and all later nodes. */
function thinned(nodes: readonly Node[], count: number): Node[] {
  return nodes.flatMap((node, i) => {
    if (i >= count) return i === count && count % 2 === 0 ? [{ ...node, isThinned: true }] : [node];
    if (i % 2 === 1) return [];
    return i === 0 ? [node] : [{ ...node, isThinned: true }];
  });
}

/** Returns the index of the last node that is not after a place; 0 if all are after it. */
function nodeBefore(nodes: readonly Node[], place: number): number {
  let low = 0;
  let high = nodes.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((nodes[middle] as Node).line <= place) low = middle;
    else high = middle;
  }
  return low;
}

export const DERIVED = {
  counter: signal({
    schema: section(
      {
        from: number.default(0),
        perSecond: number.optional(),
        integral: text('the name of the value to add up').optional(),
        per: duration(MIN_PERIOD).default(1000),
        every: duration(MIN_PERIOD).default(1000),
        rollover: numberFrom(
          Number.MIN_VALUE,
          UNLIMITED,
          'the value at which it starts again from 0',
        ).optional(),
      },
      {
        from: 'The first value.',
        perSecond: 'Increase per second.',
        integral: 'Or the name of a value to add up.',
        per: 'Time unit of the integral, in ms: 1h turns kW into kWh.',
        every: 'Step size in ms, used where the exact integral is not known.',
        rollover: 'The value at which it starts again from 0.',
      },
    ).refine(({ perSecond, integral }) => (perSecond === undefined) !== (integral === undefined), {
      error: 'expected either perSecond or integral',
    }),
    fits: 'numbers',
    doc: {
      entry: '`counter: {perSecond, from, rollover}`, `counter: {integral, per, every, from, rollover}`',
      value:
        'counts up from `from` (default 0): by `perSecond`, or by the value named `integral` in each `per` (default 1s; 1h turns kW into kWh). At `rollover` it starts again from 0. A named value without an exact integral is added up in steps of `every` (default 1s)',
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
        name: 'The value to follow, in the same device.',
        after: 'Delay, in ms.',
        slew: 'Maximum change per second.',
      },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`follows: {name, after, slew}`',
      value:
        'follows the value `name` in the same device, delayed by `after` (default 0) and changing by at most `slew` per second. Clients may write the value `name`, or it may itself follow another value',
    },
    needs: ({ name }) => [name],
    start: ({ name, after, slew }) => {
      // Only the command changes the course, never a read.
      let course: Course = constant(0);
      return {
        valueAt: (time) => courseAt(course, time),
        since: () => course[0]?.time ?? 0,
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
  /** How much the count increases per value-second. */
  readonly factor: number;
  readonly every: number;
  readonly rollover: number | undefined;
  readonly pace: Pace;
  /** True for a rate that never changes. */
  readonly isStraight: boolean;
}

function accumulate(rate: Signal, { from, factor, every, rollover, pace, isStraight }: Accumulation): Signal {
  // Only a write or a command changes the origin, never a read.
  let origin = { time: 0, value: from };
  // The area is created on first use, because the accumulated value may start after this signal.
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
    since: () => origin.time,
    valueAt(time) {
      const total = totalAt(time);
      return rollover === undefined ? total : total - rollover * Math.floor(total / rollover);
    },
    accumulator: {
      settle: (time) => begin(Math.max(time, origin.time), totalAt(time)),
      preset: begin,
      reached(time) {
        // Another counter may accumulate this one from before the present moment, so a straight line keeps
        // its beginning.
        if (isStraight) return origin;
        if (rate.integral) return { time: Math.max(time, origin.time), value: totalAt(time) };
        const reached = area?.reached?.();
        return reached ? { time: reached.time, value: origin.value + factor * reached.area } : origin;
      },
    },
  };
}

/** The integral of a signal from a start time. A step-by-step integral reports how far it has got. */
interface Area {
  areaAt(time: number): number;
  reached?(): { readonly time: number; readonly area: number };
}

function areaFrom(signal: Signal, start: number, every: number, pace: Pace): Area {
  const { integral } = signal;
  return integral ? { areaAt: (time) => integral(start, time) } : gridIntegral(signal, start, every, pace);
}
