import { z } from 'zod';
import { flag, number, numberFrom, oneOf, section, text } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { documentAs } from '../../../common/schema/written-as.js';
import { lastBefore } from '../recording/scan.js';
import { readValues } from '../recording/values.js';
import { MIN_PERIOD, type Signal, signal, type Track } from '../signal.js';

type Then = 'hold' | 'repeat' | 'bounce';

interface PlannedStep {
  readonly value: number;
  readonly for?: number | undefined;
}

/** The maximum number of steps in a list. For more, use a recording with `playback`. */
const MAX_STEPS = 10_000;

interface Playing {
  readonly loop: boolean;
  readonly speed: number;
}

const playing = {
  loop: flag.default(false),
  speed: numberFrom(0, 1_000_000, 'a speed').default(1),
};
const playingNotes = {
  loop: 'Whether it starts again at the end.',
  speed: 'Playback speed: 10 plays ten times as fast.',
};

/** The maximum number of characters of a recording inside the file. */
const MAX_RECORDED = 512 * 1024;

const RECORDED = 'times in seconds, each with the value from then on, as in "0 230, 1.5 231, 60"';

const recordedValues = z
  .string({ error: RECORDED })
  .max(MAX_RECORDED, {
    error: `at most ${MAX_RECORDED} characters; put a longer recording into a file and use playback`,
  })
  .transform((text, context) => {
    const read = readValues(text);
    if (read.ok) return read.value;
    context.addIssue({ code: 'custom', message: `${read.error}, expected ${RECORDED}`, input: text });
    return z.NEVER;
  });
documentAs(recordedValues, () => z.string().max(MAX_RECORDED));

/** Signals whose course is specified in advance, as a line, a list or a recording. */
export const PLANNED = {
  ramp: signal({
    schema: section(
      {
        from: number,
        to: number,
        over: duration(MIN_PERIOD),
        then: oneOf(['hold', 'repeat', 'bounce']).default('hold'),
      },
      {
        from: 'The first value.',
        to: 'The last value.',
        over: 'How long it takes to get from `from` to `to`, in ms.',
        then: 'What comes then.',
      },
    ),
    fits: 'numbers',
    doc: {
      entry: '`ramp: {from, to, over, then}`',
      value:
        'a straight line; `then: hold` (the default) stays at the end, `repeat` starts again, `bounce` goes back the same way',
    },
    start: ({ from, to, over, then }) => ({
      valueAt: (time) => from + (to - from) * positionAt(time / over, then),
      integral(start, end) {
        const area = areaOf(end / over, then) - areaOf(start / over, then);
        return (from * (end - start) + (to - from) * over * area) / 1000;
      },
    }),
  }),

  steps: signal({
    schema: z
      .array(
        section(
          { value: number, for: duration(MIN_PERIOD).optional() },
          { value: 'The value of the step.', for: 'How long it lasts, in ms (default: forever).' },
        ),
        {
          error: 'a list of steps, as in [{value: 1, for: 20s}, {value: 0, for: 1m}]',
        },
      )
      .min(1, { error: 'at least one step' })
      .max(MAX_STEPS, { error: `at most ${MAX_STEPS} steps; put a longer list into a file and use playback` })
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
      value: 'one value after another, repeated; a last step without `for` lasts forever',
    },
    start: staircase,
  }),

  playback: signal({
    schema: section(
      {
        file: text('the path of a CSV file'),
        column: text('the name of a column'),
        time: text('the name of the column with the times').default('time'),
        ...playing,
      },
      {
        file: 'The path of a CSV file.',
        column: 'The column with the values.',
        time: 'The column with the times: seconds, or ISO 8601.',
        ...playingNotes,
      },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`playback: {file, column, time, loop, speed}`',
      value:
        'the values in a column of a CSV file, each starting at the time in the column `time` (seconds or ISO 8601). At the end it holds the last value, or starts again with `loop: true`. `speed: 10` plays ten times as fast',
    },
    plays: ({ file, time, column }) => ({ file, time, column }),
    start: (parameters, context) => player(parameters, context.trackOf(parameters)),
  }),

  recorded: signal({
    schema: section(
      { values: recordedValues, ...playing },
      {
        values: 'Times in seconds, each with the value from then on, as in 0 230, 1.5 231, 60.',
        ...playingNotes,
      },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`recorded: {values: "0 230, 1.5 231, 60", loop, speed}`',
      value:
        'the same, with the recording in this file: times in seconds, each with the value from then on. A final time without a value marks the end. [learn](learn.md#as-recorded) writes such recordings',
    },
    start: ({ values, ...how }) => player(how, values),
  }),
};

/** Returns the completed fraction of the ramp, 0 to 1, after `lengths` lengths of it. */
function positionAt(lengths: number, then: Then): number {
  if (then === 'hold') return Math.min(lengths, 1);
  const share = lengths - Math.floor(lengths);
  return then === 'bounce' && Math.floor(lengths) % 2 === 1 ? 1 - share : share;
}

/** Returns the integral of {@link positionAt} from 0. */
function areaOf(lengths: number, then: Then): number {
  if (then === 'hold') return lengths < 1 ? lengths ** 2 / 2 : lengths - 0.5;
  const whole = Math.floor(lengths);
  const share = lengths - whole;
  const isBack = then === 'bounce' && whole % 2 === 1;
  return whole / 2 + (isBack ? share - share ** 2 / 2 : share ** 2 / 2);
}

function staircase(list: readonly PlannedStep[]): Signal {
  const starts: number[] = [];
  /** The integral of all previous steps, for each step. */
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
    const partial = (areas[i] as number) + (list[i] as PlannedStep).value * (rest - (starts[i] as number));
    return rounds === 0 ? partial : rounds * area + partial;
  };
  return {
    valueAt(time) {
      const rounds = roundsAt(time);
      return (list[indexAt(rounds === 0 ? time : time - rounds * length)] as PlannedStep).value;
    },
    integral: (from, to) => (areaOf(to) - areaOf(from)) / 1000,
  };
}

/** Plays a track. While rows can't be read, the value stays at the last row that was read. */
function player({ loop, speed }: Playing, track: Track): Signal {
  let lastRead = 0;
  let trouble: string | undefined;
  return {
    valueAt(time) {
      const played = loop ? (time * speed) % track.length : Math.min(time * speed, track.length);
      const rows = track.rowsAt(played);
      if (!rows.ok) {
        trouble = rows.error;
        return lastRead;
      }
      trouble = undefined;
      lastRead = rows.value.values[lastBefore(rows.value.times, played)] as number;
      return lastRead;
    },
    trouble: () => trouble,
  };
}
