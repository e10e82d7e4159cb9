import { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import { DAY_MS } from '../../common/schema/milliseconds.js';
import {
  bounded,
  hexadecimal,
  oneOf,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { formOf, oneOfKeys } from '../../common/schema/written-as.js';
import { conditionSchema } from '../../device/faults/condition.js';
import { ruleForm } from '../../device/faults/rule.js';
import { devicesForm } from '../../document/native/device-schema.js';
import { NAME, scalarForm } from '../../document/native/entry-schema.js';
import { linesForm } from '../../document/native/line-schema.js';
import { mannersSchema } from '../../document/native/manners-schema.js';
import { MOST_CHARACTERS } from '../../simulator/filter/parse.js';

/*
 * The schemas of a scenario. Each part is checked separately, so that a mistake in one part hides none in
 * another. Unknown names, and parts that do not go together, are detected where the part is read.
 */

const MOST_TIMES = 1_000_000;
const MOST_FORWARD_MS = 366 * DAY_MS;
export const MOST_STEPS = 1000;
/** The default time that a step waits for what it expects, in ms. */
export const DEFAULT_WITHIN_MS = 10_000;

const time = duration(0, DAY_MS);
const someTime = duration(1, DAY_MS);

/** A parameter instead of a number, a flag or a word: `$patience`. */
export const PARAMETER = '^\\$[A-Za-z_]\\w*$';

const oneOrMore = (form: z.ZodType) => z.union([form, z.array(form).min(1).max(256)]);
const ofDevices = (form: z.ZodType) => z.record(z.string(), form);
const name = text('a name');
const capture = text('the path of a pcapng file').optional();

/** How far to advance the clock of a device. */
export const forwardSchema = duration(1, MOST_FORWARD_MS);

/**
 * The bytes that a line sends unsolicited in a step: up to more than the longest frame, so that a buffer can
 * overflow.
 */
export const unsolicitedBytesSchema = hexadecimal(512, 'bytes', '00 ff 12');

export const dutSchema = section(
  {
    command: text('a command line'),
    ready: text('text that the program prints when it is ready').optional(),
    readyWithin: someTime.default(30_000),
  },
  {
    command: 'Its command line.',
    ready: 'Text that it prints when it is ready.',
    readyWithin: 'How long that may take, in ms.',
  },
);

/** Keys that describe requests: those in `when` of a fault rule, the values written, and the reply. */
const { line, unit, function: functionCode, address, name: valueName, quantity } = conditionSchema.shape;

const exceptionCode = wholeNumber(1, 255, 'an exception code');

const filter = bounded(z.string({ error: 'a filter, as in "unit=1 fc=3"' }), MOST_CHARACTERS, 'characters');

const matcherShape = {
  filter: filter.optional(),
  line,
  unit,
  function: functionCode,
  address,
  name: valueName,
  quantity,
  write: readApart(() =>
    z.union([z.string(), z.record(z.string(), z.union([scalarForm, z.array(z.number())]))]),
  ),
  response: z
    .union(
      [
        oneOf(['ok']),
        section(
          {
            exception: bounded(
              z.union([exceptionCode, z.array(exceptionCode).min(1)], {
                error: 'an exception code or a list of them',
              }),
              32,
            ),
          },
          { exception: 'An exception code, or a list of them.' },
        ),
      ],
      { error: 'ok, or {exception: 2} with a code or a list of them' },
    )
    .optional(),
};

const count = wholeNumber(1, MOST_TIMES, 'how often');

const ABOUT_REQUEST = {
  filter: 'A filter that it must pass, as in "unit=1 fc=3 addr=0-9".',
  write: 'The values it writes: a name, or values by name.',
  response: 'The expected reply: ok, or {exception: 2}.',
};

export const neverSchema = section(
  { ...matcherShape, times: count.optional() },
  { ...ABOUT_REQUEST, times: 'The count at which it fails. Default: 1.' },
);

export const expectedSchema = section(
  {
    ...matcherShape,
    same: z.literal(true, { error: 'true' }).optional(),
    retry: section(
      { within: someTime.optional(), after: time.optional() },
      { within: 'Latest time after the fault, in ms.', after: 'Earliest time after the fault, in ms.' },
    ).optional(),
    times: z
      .union(
        [
          count,
          section({ min: count.optional(), max: count.optional() }, { min: 'At least.', max: 'At most.' }),
        ],
        {
          error: 'a number of times, or {min, max}',
        },
      )
      .optional(),
    after: time.optional(),
    every: someTime.optional(),
    tolerance: time.optional(),
    for: someTime.optional(),
  },
  {
    ...ABOUT_REQUEST,
    same: 'The retry of the request that the fault disturbed.',
    retry: 'The request that the fault disturbed arrives again within this time.',
    times: 'How many times in a row the request arrives. Default: once or more.',
    after: 'Minimum time after the previous one, in ms.',
    every: 'It arrives repeatedly, at this interval, in ms.',
    tolerance: 'How much the interval may vary, in ms.',
    for: 'How long the interval is checked, in ms.',
  },
);

export type ExpectedSource = z.output<typeof expectedSchema>;
export type MatcherSource = Omit<z.output<typeof neverSchema>, 'times'>;

/** The `power` of one device: `on`, `off` until a step says `on`, or off for some time. */
export const powerSchema = z.union(
  [
    oneOf(['on', 'off']),
    section(
      { off: someTime, boot: time.default(0) },
      { off: 'How long it is off, in ms.', boot: 'How long the device then boots, in ms.' },
    ),
  ],
  { error: 'on, off, or a time, as in {off: 20s}' },
);

const repeat = wholeNumber(1, MOST_STEPS, 'how often').optional();

export const stepSchema = section(
  {
    name: name.optional(),
    repeat,
    fault: readApart(() => oneOrMore(ruleForm(false))),
    set: readApart(() => z.record(z.string(), scalarForm)),
    manners: readApart(() => ofDevices(mannersSchema)),
    closed: readApart(() => oneOrMore(z.string().describe('The name of a line.'))),
    power: readApart(() => ofDevices(powerSchema)),
    clock: readApart(() => ofDevices(forwardSchema)),
    unsolicited: readApart(() => ofDevices(unsolicitedBytesSchema)),
    dut: oneOf(['stop', 'start', 'restart']).optional(),
    wait: z
      .union(
        [
          someTime,
          section(
            { requests: wholeNumber(1, MOST_TIMES, 'a number of requests') },
            { requests: 'Waits for this number of requests to any unit, for at most `within`.' },
          ),
        ],
        {
          error:
            'a number of milliseconds from 1 to 86400000, or a time such as 250ms, 20s, 5m, 1h, or {requests: 3}',
        },
      )
      .optional(),
    expect: readApart(() => oneOrMore(z.union([filter, expectedSchema]))),
    never: readApart(() => oneOrMore(z.union([filter, neverSchema]))),
    within: someTime.optional(),
    after: time.optional(),
    capture,
  },
  {
    name: 'The name of the step.',
    repeat: 'How many times the step runs.',
    fault: 'Fault rules that apply while the step lasts.',
    set: 'Values by name, as in {meter.voltage: 260}.',
    manners: 'Manners that devices have while the step lasts, as in {meter: {holes: silence}}.',
    closed: 'A line, or a list of lines, that is closed with all its connections while the step lasts.',
    power: 'The power of devices, as in {meter: {off: 20s}}.',
    clock: 'How far to advance the clocks of devices, as in {meter: 1h}.',
    unsolicited: 'Bytes that lines send once without a request, as in {bus: "00 ff"}.',
    dut: 'Stops or starts the program under test.',
    wait: 'Waits, in ms, or for {requests: 3}.',
    expect: 'Expected requests: one, or a list in order, each as a mapping or as filter text.',
    never: 'Requests that must not arrive in this step.',
    within: 'How long the step waits, in ms. Default: 10 s.',
    after: 'The expected request must not arrive sooner, in ms.',
    capture: "File to write the step's traffic to (pcapng).",
  },
);

/** A group of steps, in place or from another file. */
export const groupSchema = section(
  { name: name.optional(), repeat, steps: readApart(() => stepsForm) },
  {
    name: 'The name of the group.',
    repeat: 'How many times the steps run.',
    steps: 'Steps that belong together.',
  },
  oneOfKeys('steps', 'use'),
);

const use = z.string().describe('A file with a list of steps that replace this one.').optional();

const stepsForm: z.ZodType = z
  .lazy(() =>
    z
      .array(z.union([formOf(stepSchema), formOf(groupSchema, { use })]))
      .min(1)
      .max(MOST_STEPS),
  )
  .meta({ id: 'Steps' });

export const alwaysSchema = section(
  { never: readApart(() => oneOrMore(z.union([filter, neverSchema]))) },
  { never: 'A request, or a list of requests.' },
);

export const scenarioSchema = section(
  {
    name,
    lines: readApart(linesForm),
    line: z
      .union([name, z.array(name).min(1)], { error: 'the name of a line, or a list of them' })
      .optional(),
    seed: wholeNumber(0, MAX_SEED, 'a seed').optional(),
    configuration: readApart(z.string),
    devices: readApart(devicesForm),
    parameters: readApart(() => z.record(z.string().regex(NAME), scalarForm)),
    dut: readApart(() => dutSchema),
    always: readApart(() => z.array(alwaysSchema)),
    capture,
    steps: readApart(() => stepsForm),
  },
  {
    name: 'The name of the scenario.',
    lines: 'The lines it defines itself, as in a configuration.',
    line: 'The lines that it watches, and that its faults apply to. Default: all.',
    seed: 'The same seed gives the same faults. Default: random.',
    configuration: 'The path of the configuration that it runs on.',
    devices: 'The devices it defines itself, as in a configuration.',
    parameters: 'Initial values of parameters: `$name` inserts one, `--set name=value` changes it.',
    dut: 'The program under test.',
    always: 'Requests that must not arrive while the scenario runs.',
    capture: 'File to write the traffic to (pcapng).',
    steps: 'The steps: what each does, and the requests it expects.',
  },
  { required: ['name', 'steps'] },
);
