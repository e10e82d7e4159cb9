import { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import {
  flag,
  number,
  oneOf,
  readApart,
  section,
  text,
  WITHOUT_CONTROLS,
  wholeNumber,
} from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { mappingOf } from '../../common/schema/written-as.js';
import { scheduleSchema } from '../../device/faults/condition.js';
import { REACTION_KINDS } from '../../device/reactions/kinds.js';
import { ACTION_NAMES } from '../../device/registers/actions.js';
import { CELL_TYPES, PADDINGS, type RegisterType } from '../../device/registers/cell-type.js';
import { TIME_NAME } from '../../device/signals/expression/parse.js';
import { DERIVED } from '../../device/signals/kinds/derived.js';
import { signalSchema } from '../../device/signals/kinds.js';
import { MAX_DELAY } from '../../device/signals/signal.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';

/** The schemas of the entries of a device's tables. */

export const seedSchema = wholeNumber(0, MAX_SEED, 'a seed');

export const NAME_TEXT =
  'a name of letters, digits and underscores, at most 64 of them, not beginning with a digit';

/** Matches names of values and of their bits. */
export const NAME = /^[A-Za-z_]\w{0,63}$/;

/** The documented form of a value. */
export const scalarForm = z.union([z.number(), z.string(), z.boolean()]);

/** The documented form of a value, or of several. */
export const valueForm = z.union([scalarForm, z.array(scalarForm).min(1)]);

/** Matches the raw value that a label is for. */
export const LABELLED = /^(0|-?[1-9]\d{0,15})$/;

/** The shapes of reactions. The type does not list these keys, because each kind of reaction reads its own. */
const reactionShape: object = Object.fromEntries(
  REACTION_KINDS.map(({ name, schema, effect }) => [name, readApart(() => schema.describe(effect))]),
);

/** Returns the keys of an entry whose values have this form. */
const entryShape = (value: () => z.ZodType) => ({
  address: wholeNumber(0, ADDRESS_SPACE - 1),
  value: readApart(value),
  quantity: wholeNumber(1, ADDRESS_SPACE).optional(),
  write: flag.optional(),
  action: oneOf(ACTION_NAMES).optional(),
  min: number.optional(),
  max: number.optional(),
  reads: readApart(() => z.array(z.tuple([z.int().min(1), scalarForm]))),
  name: z
    .string({ error: NAME_TEXT })
    .refine(...WITHOUT_CONTROLS)
    .regex(NAME, { error: NAME_TEXT })
    .refine((name) => name !== TIME_NAME, {
      error: `expected another name: ${TIME_NAME} is reserved for the time`,
    })
    .optional(),
  description: text('text').optional(),
  labels: readApart(() => mappingOf(LABELLED, z.string())),
  retain: flag.optional(),
  available: oneOf([true, false, 'whenWritten']).optional(),
  unavailable: readApart(() => scheduleSchema),
  notAvailable: readApart(() => scalarForm),
  stale: duration(1, MAX_DELAY).optional(),
  signal: readApart(() => signalSchema),
  seed: seedSchema.optional(),
  follows: readApart(() =>
    DERIVED.follows.schema.describe('Follows another value of the device, usually one that clients write.'),
  ),
  ...reactionShape,
});

const aboutEntry = {
  address: 'The first address, from 0, as on the wire.',
  value: 'The value, or a list of values at consecutive addresses. Default: 0.',
  quantity: 'The number of values. Default: the length of the list, or 1.',
  write: '`true` lets clients write it. REST can always write it.',
  action: 'What happens on each read.',
  min: 'Where `increment` and `random` begin.',
  max: 'Where `increment` and `random` end.',
  reads: 'For `replay`: numbers of reads, each with the value from that read on, as in [[4, 7], [9, 8]].',
  name: 'A name to use instead of table and address.',
  description: 'A note for people.',
  labels: 'What values mean, as in {0: off, 1: on}.',
  retain: '`true`: the value survives a power loss or a reset of the device.',
  available:
    '`false`: clients read `notAvailable` until REST changes that; `whenWritten`: until it is written.',
  unavailable: 'When the value is not available: windows of the device clock, as in [{from: 10s, for: 5s}].',
  notAvailable:
    'What clients read while the value is not available. Default: the SunSpec value for the type.',
  stale: 'How long after a start of the device clients still read the previous value, in ms.',
  signal: 'The signal that sets the value (docs/signals.md).',
  seed: 'Seed for the random values of the signal.',
};

const bitForm = z.union([z.literal([0, 1]), z.boolean(), z.string().regex(/^\s*(0x0*)?[01]\s*$/)]);

/** An entry of coils or discrete inputs. */
export const bitEntrySchema = section(
  entryShape(() => z.union([bitForm, z.array(bitForm).min(1)])),
  aboutEntry,
);

const REGISTER_TYPES = CELL_TYPES.filter(
  (type): type is RegisterType => type !== 'invalid' && type !== 'next' && type !== 'bit',
);

/** An entry of holding or input registers. `quantity` counts values, `length` the registers of a string. */
export const registerEntrySchema = section(
  {
    ...entryShape(() => valueForm),
    type: oneOf(REGISTER_TYPES).optional(),
    length: wholeNumber(1, ADDRESS_SPACE).optional(),
    wordOrder: oneOf(['big', 'little']).optional(),
    byteOrder: oneOf(['big', 'little']).optional(),
    padding: oneOf(PADDINGS).optional(),
    bits: readApart(() => mappingOf(/^([0-9]|[1-5]\d|6[0-3])$/, z.string().regex(NAME))),
    unit: text('a unit, such as "V"').optional(),
    scale: number.refine((scale) => scale !== 0, { error: 'expected a number other than 0' }).optional(),
  },
  {
    ...aboutEntry,
    type: 'How the value is stored in registers. Default: uint16.',
    length: 'How many registers a string has.',
    wordOrder: 'Which register of a value comes first. Default: big.',
    byteOrder: 'Which byte of a register comes first. Default: big.',
    bits: 'Names of bits, as in {0: running, 3: overload}; 0 is the lowest.',
    padding: 'What fills the rest of a string. Default: nul.',
    unit: 'The unit of the value, such as V. For display only.',
    scale: 'Multiplies the stored number to give the value.',
  },
);

export type RegisterEntry = z.output<typeof registerEntrySchema>;
