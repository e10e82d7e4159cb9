import { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import { bounded, oneOf, section, text, wholeNumber } from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { conditionSchema } from '../../device/faults/condition.js';

/*
 * The schemas of a scenario. Each part is checked separately, so that a mistake in one part hides none in
 * another. Whether names are known, and whether parts go together, is checked where the part is read.
 */

const DAY_MS = 86_400_000;
const MOST_TIMES = 1_000_000;
const MOST_FORWARD_MS = 366 * DAY_MS;
export const MOST_STEPS = 1000;
/** How long a step waits for what it expects, when it does not say so itself. */
export const DEFAULT_WITHIN_MS = 10_000;

const time = duration(0, DAY_MS);
const someTime = duration(1, DAY_MS);
const part = z.unknown().optional();
const name = text('a name');
const capture = text('the path of a pcapng file').optional();

export const scenarioSchema = section({
  name,
  lines: part,
  line: z.union([name, z.array(name).min(1)], { error: 'the name of a line, or a list of them' }).optional(),
  seed: wholeNumber(0, MAX_SEED, 'a seed').optional(),
  configuration: part,
  devices: part,
  parameters: part,
  dut: part,
  always: part,
  capture,
  steps: part,
});

/** How far the clock of a device is put forward. */
export const forwardSchema = duration(1, MOST_FORWARD_MS);

export const dutSchema = section({
  command: text('a command line'),
  ready: text('text that the program prints when it is ready').optional(),
  readyWithin: someTime.default(30_000),
});

export const alwaysSchema = section({ never: part });

const repeat = wholeNumber(1, MOST_STEPS, 'how often').optional();

/** Steps that belong together, in place or from another file. */
export const groupSchema = section({ name: name.optional(), repeat, steps: part });

export const stepSchema = section({
  name: name.optional(),
  repeat,
  fault: part,
  set: part,
  power: part,
  clock: part,
  dut: oneOf(['stop', 'start', 'restart']).optional(),
  wait: someTime.optional(),
  expect: part,
  never: part,
  within: someTime.optional(),
  after: time.optional(),
  capture,
});

/** Keys that describe requests: those of `when` of a fault rule, what a request writes, and its answer. */
const { line, unit, function: functionCode, address, name: valueName, quantity } = conditionSchema.shape;

const exceptionCode = wholeNumber(1, 255, 'an exception code');

const matcherShape = {
  line,
  unit,
  function: functionCode,
  address,
  name: valueName,
  quantity,
  write: part,
  response: z
    .union(
      [
        oneOf(['ok']),
        section({
          exception: bounded(
            z.union([exceptionCode, z.array(exceptionCode).min(1)], {
              error: 'an exception code or a list of them',
            }),
            32,
          ),
        }),
      ],
      { error: 'ok, or {exception: 2} with a code or a list of them' },
    )
    .optional(),
};

const count = wholeNumber(1, MOST_TIMES, 'how often');

export const neverSchema = section({ ...matcherShape, times: count.optional() });

export const expectedSchema = section({
  ...matcherShape,
  same: z.literal(true, { error: 'true' }).optional(),
  retry: section({ within: someTime.optional(), after: time.optional() }).optional(),
  times: z
    .union([count, section({ min: count.optional(), max: count.optional() })], {
      error: 'a number of times, or {min, max}',
    })
    .optional(),
  after: time.optional(),
  every: someTime.optional(),
  tolerance: time.optional(),
  for: someTime.optional(),
});

export type ExpectedSource = z.output<typeof expectedSchema>;
export type MatcherSource = Omit<z.output<typeof neverSchema>, 'times'>;

/** The `power` of one device: `on`, `off` until a step says `on`, or off for a time. */
export const powerSchema = z.union(
  [oneOf(['on', 'off']), section({ off: someTime, boot: time.default(0) })],
  { error: 'on, off, or a time, as in {off: 20s}' },
);
