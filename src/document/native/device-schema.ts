import { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import {
  each,
  flag,
  identityText,
  number,
  numberFrom,
  oneOf,
  readApart,
  section,
  text,
  WITHOUT_CONTROLS,
  wholeNumber,
} from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { MAX_RECORDS } from '../../device/files.js';
import { IDENTITY_NAMES } from '../../device/identification.js';
import { REACTIONS } from '../../device/reactions/kinds.js';
import { ACTION_NAMES } from '../../device/registers/actions.js';
import { CELL_TYPES, PADDINGS, type ValueType } from '../../device/registers/cell-type.js';
import { MAX_SPEED } from '../../device/signals/clock.js';
import { TIME_NAME } from '../../device/signals/expression/parse.js';
import { MIN_PERIOD } from '../../device/signals/signal.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';

/** The schemas of a device, without those of the entries of its tables. */

export const identitySchema = section(
  {
    ...each(IDENTITY_NAMES, identityText.optional()),
    ...readApart('extended'),
  },
  {
    ...each(IDENTITY_NAMES, 'Text of function 43/14.'),
    extended: 'Private objects by identifier, 128 to 255: a text, or `{bytes: "01 02 ff"}`.',
  },
);

/** The keys that a device may have besides registers. */
const extras = {
  ...readApart('identity', 'exceptionStatus', 'serverId', 'files', 'queues'),
  ...readApart('manners', 'like'),
};

const aboutExtras = {
  identity: 'What functions 43/14 and 17 tell about the device.',
  exceptionStatus: 'Up to eight coils for function 7, the first in the lowest bit.',
  serverId: 'What function 17 answers.',
  files: 'Files by number, for functions 20 and 21.',
  queues: 'FIFO queues by address, for function 24: a list of words, or a signal that feeds it.',
  manners: 'What the device does that a good one would not.',
  like: 'The entry of the catalogue whose mistakes it has; `modbus-sim catalogue` lists the entries.',
};

/** A device with registers of its own. */
export const deviceSections = section(
  {
    ...extras,
    ...readApart('registers', 'clock', 'seed'),
    ...readApart('real', 'writes', 'whenSilent', 'fallback', 'pause', 'shadow'),
  },
  {
    ...aboutExtras,
    registers: 'The values of the device, in four tables.',
    clock: 'The clock by which its signals move.',
    seed: 'The same seed gives the same random values. Default: 0.',
    real: 'A real device that answers here (docs/real-devices.md).',
    writes: '`true` lets clients write to the real device.',
    whenSilent: 'What a client gets while the real device does not answer: nothing, or exception 0B.',
    fallback: 'The simulated device that answers while the real one does not.',
    pause: 'Silence before each request to the real device, in ms.',
    shadow: '`true` keeps the values of real replies in the registers of the fallback, or in its own.',
  },
);

/** The settings of the clock of a device. */
export const clockSchema = section(
  {
    speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
    paused: flag.optional(),
  },
  {
    speed: 'How fast it goes: 60 makes a minute of a second. Default: 1.',
    paused: 'Whether it stands still.',
  },
);

export const seedSchema = wholeNumber(0, MAX_SEED, 'a seed');

const word = wholeNumber(0, 0xffff);

export const exceptionStatusSchema = z
  .array(wholeNumber(0, 0xffff), { error: 'a list of coil addresses' })
  .max(8, { error: 'at most 8 coil addresses' });

const idError = { error: 'a byte, 0 to 255, or a list of 1 to 64 bytes' };

export const serverIdSchema = section(
  {
    id: z.union(
      [wholeNumber(0, 255), z.array(wholeNumber(0, 255), idError).min(1, idError).max(64, idError)],
      idError,
    ),
    running: flag.default(true),
    additional: identityText.max(180, { error: 'text of at most 180 bytes' }).default(''),
  },
  { id: 'A byte, or up to 64 of them.', running: 'The run indicator.', additional: 'Text behind it.' },
);

export const fileSchema = section(
  {
    records: wholeNumber(1, MAX_RECORDS).default(MAX_RECORDS),
    write: flag.default(false),
    values: z.array(word, { error: 'a list of words' }).default([]),
  },
  {
    records: 'How many records (words) it has.',
    write: 'Whether function 21 may write it.',
    values: 'The first records; the others are 0.',
  },
);

/** A FIFO queue that a signal feeds. */
export const fedQueueSchema = section(
  {
    ...readApart('signal'),
    every: duration(MIN_PERIOD),
    seed: seedSchema.optional(),
  },
  {
    signal: 'What the words are.',
    every: 'How often a word is added, in ms.',
    seed: 'Of the random values of the signal.',
  },
);

export const queueSchema = z
  .array(word, { error: 'a list of words' })
  .max(0xffff, { error: 'at most 65535 words' });

/** A device that refers to a device of a pymodbus file. */
export const pymodbusReferenceSchema = section(
  {
    ...extras,
    pymodbus: text('the path of a pymodbus file'),
    device: text('the name of a device in that file').optional(),
  },
  {
    ...aboutExtras,
    pymodbus: 'A file of pymodbus.simulator with its registers.',
    device: 'Which device of that file, if it has several.',
  },
);

export const tableSections = section(readApart('coils', 'discrete', 'holding', 'input'), {
  coils: 'Bits that clients read (function 1) and write (5, 15).',
  discrete: 'Discrete inputs: bits that clients read (function 2).',
  holding: 'Words that clients read (function 3) and write (6, 16, 22, 23).',
  input: 'Words that clients read (function 4).',
});

export const NAME_TEXT =
  'a name of letters, digits and underscores, at most 64 of them, not beginning with a digit';

/** What names of values and of their bits look like. */
export const NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * The shapes of reactions. The type does not list these keys, because each kind of reaction reads its own.
 */
const reactionShape: object = readApart(...REACTIONS);

const entryShape = {
  address: wholeNumber(0, ADDRESS_SPACE - 1),
  ...readApart('value'),
  quantity: wholeNumber(1, ADDRESS_SPACE).optional(),
  write: flag.optional(),
  action: oneOf(ACTION_NAMES).optional(),
  min: number.optional(),
  max: number.optional(),
  ...readApart('reads'),
  name: z
    .string({ error: NAME_TEXT })
    .refine(...WITHOUT_CONTROLS)
    .regex(NAME, { error: NAME_TEXT })
    .refine((name) => name !== TIME_NAME, { error: `expected another name: ${TIME_NAME} is the time` })
    .optional(),
  description: text('text').optional(),
  ...readApart('labels'),
  retain: flag.optional(),
  available: oneOf([true, false, 'whenWritten']).optional(),
  ...readApart('unavailable', 'notAvailable', 'signal'),
  seed: seedSchema.optional(),
  ...readApart('follows'),
  ...reactionShape,
};

const aboutEntry = {
  address: 'The first address, from 0, as on the wire.',
  value: 'The value, or a list of values at addresses that follow each other. Default: 0.',
  quantity: 'How many values there are. Default: one, or as many as are listed.',
  write: '`true` lets clients write it. REST may always.',
  action: 'What happens at each read.',
  min: 'Where `increment` and `random` begin.',
  max: 'Where `increment` and `random` end.',
  reads: 'Values of `replay`: from which read on, and the value, as in [[4, 7], [9, 8]].',
  name: 'A name, which works wherever a table and an address do.',
  description: 'What people should know of it.',
  labels: 'What values mean, as in {0: off, 1: on}.',
  retain: '`true`: the value stays when the device loses its power or is reset.',
  available:
    '`false`: clients read `notAvailable` until REST changes that; `whenWritten`: until it is written.',
  unavailable: 'When it is not available: windows of the device’s clock, as in [{from: 10s, for: 5s}].',
  notAvailable: 'What clients read then. Default: what SunSpec has for the type.',
  signal: 'What moves the value (docs/signals.md).',
  seed: 'Of the random values of the signal.',
};

/** An entry of coils or discrete inputs. */
export const bitEntrySchema = section(entryShape, aboutEntry);

export type RegisterType = Exclude<ValueType, 'bit'>;

const REGISTER_TYPES = CELL_TYPES.filter(
  (type): type is RegisterType => type !== 'invalid' && type !== 'next' && type !== 'bit',
);

/** An entry of holding or input registers. `quantity` counts values, `length` the registers of a string. */
export const registerEntrySchema = section(
  {
    ...entryShape,
    type: oneOf(REGISTER_TYPES).optional(),
    length: wholeNumber(1, ADDRESS_SPACE).optional(),
    wordOrder: oneOf(['big', 'little']).optional(),
    byteOrder: oneOf(['big', 'little']).optional(),
    padding: oneOf(PADDINGS).optional(),
    ...readApart('bits'),
    unit: text('a unit, such as "V"').optional(),
    scale: number.refine((scale) => scale !== 0, { error: 'expected a number other than 0' }).optional(),
  },
  {
    ...aboutEntry,
    type: 'How the value is kept in registers. Default: uint16.',
    length: 'How many registers a string has.',
    wordOrder: 'Which register of a value comes first. Default: big.',
    byteOrder: 'Which byte of a register comes first. Default: big.',
    bits: 'Names of bits, as in {0: running, 3: overload}; 0 is the lowest.',
    padding: 'What fills the rest of a string. Default: nul.',
    unit: 'The unit of the value, such as V. Shown, not computed with.',
    scale: 'The value is what is stored, times this.',
  },
);

export type RegisterEntry = z.output<typeof registerEntrySchema>;
