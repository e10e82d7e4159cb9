import { z } from 'zod';
import { flag, oneOf, section, text, wholeNumber } from '../../../common/schema/parts.js';
import { moment } from '../../../common/schema/units.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import type { DeclaredCommands } from '../declared.js';
import { deviceViewSchema, ofDevice } from './device.js';
import { errorSchema, failures } from './problem.js';

/** A number; as text for strings, NaN, the infinities, and integers that a double can't represent. */
const number = z.union([z.number(), z.string()]);

/** Reads a number from the text of a query. Other text is kept, and the schema rejects it. */
export function inQuery<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text) => (typeof text === 'string' && NUMBER.test(text) ? Number(text) : text),
    schema,
  );
}

const NUMBER = /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/;

const valueViewSchema = z
  .object({
    name: z.string().nullable(),
    value: number.nullable().describe('The value in its unit; null while it is not available.'),
    raw: number.describe('The stored value, even while clients read that the value is not available.'),
    unit: z.string().nullable(),
    type: z.string(),
    available: z.boolean().describe('False: clients read the "not available" value instead of this one.'),
  })
  .meta({ id: 'Value', description: 'A value of a device.' });

export const registerViewSchema = valueViewSchema
  .extend({
    table: z.enum(TABLE_NAMES),
    address: z.number(),
    registers: z.number().describe('The number of registers that the value occupies.'),
    writable: z.boolean(),
    description: z.string().nullable(),
    label: z
      .string()
      .nullable()
      .describe(
        'The label of the raw value, or the names of the bits that are set; null while the value is not available.',
      ),
    bits: z
      .record(z.string(), z.string())
      .nullable()
      .describe('The names of the bits by number; 0 is the lowest. A change may name the bits to set.'),
    violates: z
      .string()
      .nullable()
      .describe(
        'The reaction that would reject this value if a client wrote it: `limits` or `allowed`. REST may set it.',
      ),
    signal: z.record(z.string(), z.unknown()).nullable().describe('The signal as written.'),
    trouble: z.string().nullable().describe('Why the signal deviates from its definition.'),
    saturated: z.number().describe('Reads at which the value of the signal did not fit the type.'),
    action: z.string().nullable(),
    reads: z
      .number()
      .describe('How many times clients have read and written the first register of the value.'),
    writes: z.number(),
    lastWriter: z
      .object({
        by: z.enum(['line', 'REST', 'signal', 'reaction']),
        line: z.string().nullable(),
        client: z.string().nullable(),
        time: z.string().nullable(),
      })
      .nullable()
      .describe(
        'Who last wrote the value, and when; null if it was never written. A signal writes whenever the value is read.',
      ),
  })
  .meta({ id: 'Register', description: 'A value with all its details.' });

export type ValueView = z.infer<typeof valueViewSchema>;

export type RegisterView = z.infer<typeof registerViewSchema>;

const MAX_CHANGES = 1000;
/** The number of names and values in a change with all its keys that expects the four registers of a 64-bit value. */
const PARTS_OF_CHANGE = 16;
/** Maximum number of registers in a write, the same as in one request from a client. */
const MAX_WRITTEN = 123;

const anyValue = z.unknown().describe('The value in its unit, or as stored: a number or text.');
const RAW = 'Whether the value is given as stored.';

const EXPECTED =
  'The current content that is required: a value in the form of `value`, or a list of registers as clients see them. If it differs, the whole request is refused.';

const changeList = section({
  changes: z
    .array(
      section({
        name: z.string({ error: 'a name' }).optional(),
        table: oneOf(TABLE_NAMES).optional(),
        address: wholeNumber(0, ADDRESS_SPACE - 1, 'an address').optional(),
        value: anyValue.optional(),
        raw: flag.default(false).describe(RAW),
        words: z
          .array(wholeNumber(0, 0xffff, 'a register'), { error: 'a list of registers' })
          .min(1, { error: 'at least one register' })
          .max(MAX_WRITTEN, { error: `at most ${MAX_WRITTEN} registers` })
          .optional()
          .describe('Instead of a value: the registers from the address on, as clients see them.'),
        expected: z.unknown().optional().describe(EXPECTED),
      }),
      { error: 'a list of changes, as in [{"name": "voltage", "value": 231.5}]' },
    )
    .max(MAX_CHANGES, { error: `at most ${MAX_CHANGES} changes` }),
}).meta({
  examples: [
    {
      changes: [
        { name: 'voltage', value: 231.5 },
        { table: 'holding', address: 1, value: 7 },
      ],
    },
  ],
});

export type ChangeRequest = z.input<typeof changeList>['changes'][number];
export type Change = z.infer<typeof changeList>['changes'][number];

/** Maximum number of registers to define at once: the number of coils that a client can read in one request. */
const MAX_DEFINED = 2000;

const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');

const valueQuery = z.object({
  table: oneOf(TABLE_NAMES).optional().describe('Only values of this table.'),
  from: inQuery(address).default(0).describe('The first address.'),
  to: inQuery(address)
    .default(ADDRESS_SPACE - 1)
    .describe('The last address.'),
  names: z.string().optional().describe('Names, separated by commas, instead of a range.'),
});

export type RegisterQuery = z.input<typeof valueQuery>;

const newRegisters = section({
  table: oneOf(TABLE_NAMES),
  address,
  quantity: wholeNumber(1, MAX_DEFINED, `a quantity of at most ${MAX_DEFINED}`).default(1),
  write: flag.default(true).describe('Whether clients may write them.'),
}).meta({ examples: [{ table: 'holding', address: 100, quantity: 2 }] });

const newValue = section({
  value: anyValue.optional(),
  raw: flag.default(false).describe(RAW),
  expected: z.unknown().optional().describe(EXPECTED),
  available: flag
    .optional()
    .describe(
      'False: clients read the "not available" value from now on. True undoes that. A value may be set in the same change.',
    ),
}).meta({
  examples: [{ value: 231.5 }, { available: false }],
});

export const pastMoment = moment
  .optional()
  .describe(
    'A moment in the past: an ISO 8601 time, or how long ago (`30s`). Default, and for times in the future: now.',
  );

const time = z.string().nullable().describe('Null if none is recorded.');

const pastSchema = z
  .object({
    at: z.string().describe('The moment that is shown.'),
    since: z.string().describe('The time from which this device is recorded.'),
    why: z
      .enum(['made', 'restarted', 'clock', 'defined', 'full'])
      .describe(
        'Why not earlier: the device was added, was restarted, its clock was set, registers were defined, or earlier changes are no longer kept.',
      ),
    changed: time.describe(
      'When registers of the device were last written up to that moment; null if no write is recorded.',
    ),
    before: z
      .array(z.tuple([z.number(), z.number()]))
      .describe('Addresses in the range that this write changed, with their previous words.'),
    previous: time.describe('When registers were written before the moment.'),
    next: time.describe('When they were written after it.'),
  })
  .meta({
    id: 'Past',
    description: 'The moment of the past that is shown, and the writes around it.',
  });

const wordQuery = z.object({
  table: oneOf(TABLE_NAMES).default('holding').describe('The table.'),
  from: inQuery(address).default(0).describe('The first address.'),
  to: inQuery(address)
    .optional()
    .describe('The last address. Default: as many addresses as one answer may have.'),
  at: pastMoment,
});

export type WordQuery = Partial<Pick<z.input<typeof wordQuery>, 'table'>> & {
  readonly from?: number;
  readonly to?: number;
  /** An ISO 8601 time, or how long ago (`30s`). */
  readonly at?: string;
};

const wordsSchema = deviceViewSchema
  .pick({ power: true, clock: true })
  .extend({
    table: z.enum(TABLE_NAMES),
    from: z.number().describe('The address of the first word.'),
    bits: z.union([z.literal(1), z.literal(16)]).describe('The number of bits at each address.'),
    words: z.array(z.number().nullable()).describe('What clients read; null where nothing is defined.'),
    access: z
      .string()
      .describe(
        'One character per word: `w` if clients may write it, `r` if not, `-` if it is undefined, `?` if its content at that time is not known (`at`).',
      ),
    values: z
      .array(registerViewSchema)
      .describe('Values that have a name, a signal or an action, or occupy several registers.'),
    past: pastSchema.optional().describe('Absent without `at`.'),
  })
  .meta({
    id: 'Words',
    description: 'Consecutive registers, as clients see them.',
  });

export type Words = z.infer<typeof wordsSchema>;

/** One kind of signal by name. The reader of signals checks it. */
const signalBody = z.record(z.string(), z.unknown()).meta({
  description: 'One kind of signal.',
  examples: [{ sine: { period: '60s', amplitude: 5, offset: 230 } }],
});

export const kindSchema = z
  .object({
    name: z.string(),
    value: z.string().describe('What the value does.'),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the parameters.'),
  })
  .meta({
    id: 'SignalKind',
    description: 'A kind of signal.',
    examples: [
      {
        name: 'noise',
        value: 'every so often a new random value',
        schema: { type: 'object', properties: { around: { type: 'number' } }, required: ['around'] },
      },
    ],
  });

export type SignalKindView = z.infer<typeof kindSchema>;

const valueParams = ofDevice.params.extend({
  value: z.string().meta({ description: 'Name of the value.', examples: ['voltage'] }),
});

const registerList = z.object({ registers: z.array(registerViewSchema) }).describe('The values.');

const otherSchema = errorSchema
  .extend({
    registers: registerList.shape.registers.describe('The registers with their current values.'),
  })
  .meta({
    id: 'OtherValues',
    description: 'The value is not the expected one.',
  });

const valueName = text('the name of a value');
const ofValue = { of: { ...ofDevice.of, value: valueName }, params: valueParams };

/** The commands on values, by name or by table and address, as values or as words. `../values.ts` carries them out. */
export const VALUE_COMMANDS = {
  'value.list': {
    rest: 'GET /devices/:name/registers',
    kind: 'list',
    ...ofDevice,
    sent: valueQuery,
    summary: 'Read values of a device',
    description: 'All values, or only values in a table or an address range, or with the given names.',
    member: 'registers',
    response: { 200: registerList, ...failures(400, 404) },
  },
  'device.names': { kind: 'list', ...ofDevice, summary: 'List the values of a device that traffic names' },
  'value.named': { kind: 'list', ...ofDevice, summary: 'List the values that have a name, in brief' },
  'value.places': {
    kind: 'list',
    sent: section({ name: z.string() }),
    summary: 'Find values by name, with or without the device, for traffic filters',
  },
  'value.change': {
    rest: 'PATCH /devices/:name/registers',
    ...ofDevice,
    sent: changeList,
    maxParts: MAX_CHANGES * PARTS_OF_CHANGE,
    summary: 'Set values of a device',
    description:
      'Each change has a name, or a table and an address, and a value or words. If one change is invalid or does not find the expected content, none is made.',
    member: 'registers',
    response: { 200: registerList, ...failures(400, 404), 409: otherSchema },
  },
  'value.define': {
    rest: 'POST /devices/:name/registers',
    ...ofDevice,
    sent: newRegisters,
    summary: 'Define registers of a device',
    description:
      'Undefined addresses in the range become 16-bit registers or coils with the value 0. They exist until the program ends; `GET /api/v1/configuration` includes them.',
    member: 'registers',
    response: { 201: registerList, ...failures(400, 404, 409) },
  },
  'value.get': {
    rest: 'GET /devices/:name/values/:value',
    kind: 'query',
    ...ofValue,
    summary: 'Read a value by its name',
    description: 'The value in its unit and as stored. A signal is computed for the current time.',
    response: { 200: valueViewSchema, ...failures(404) },
  },
  'value.set': {
    rest: 'PUT /devices/:name/values/:value',
    of: { ...ofDevice.of, name: valueName },
    params: valueParams,
    sent: newValue,
    summary: 'Set a value by its name',
    description:
      "This works even if clients may not write the value. A value that a signal computes can't be set.",
    response: { 200: valueViewSchema, ...failures(400, 404), 409: otherSchema },
  },
  'value.words': {
    rest: 'GET /devices/:name/words',
    kind: 'query',
    ...ofDevice,
    sent: wordQuery,
    summary: 'Read registers of a device as words',
    description:
      'A range of at most 512 addresses as clients see it, now or at a moment of the past. Reading runs no actions and changes no counters.',
    response: { 200: wordsSchema, ...failures(400, 404, 409) },
  },
} as const satisfies DeclaredCommands;

const ofSignal = { ...ofValue, response: { 200: registerViewSchema, ...failures(400, 404) } };

/** The commands on the signals of values. `../values.ts` carries them out. */
export const SIGNAL_COMMANDS = {
  'signal.set': {
    rest: 'PUT /devices/:name/signals/:value',
    ...ofSignal,
    sent: signalBody,
    as: 'signal',
    summary: 'Set the signal of a value',
    description: 'Replaces the signal of the value. docs/signals.md explains each kind.',
  },
  'signal.remove': {
    rest: 'DELETE /devices/:name/signals/:value',
    ...ofSignal,
    summary: 'Hold a value',
    description: 'Removes the signal. The value keeps its current content.',
  },
} as const satisfies DeclaredCommands;
