import { z } from 'zod';
import {
  each,
  flag,
  hexadecimal,
  identityText,
  numberFrom,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { having, mappingOf, oneOfKeys } from '../../common/schema/written-as.js';
import { MAX_RECORDS } from '../../device/files.js';
import { FIRST_EXTENDED_OBJECT, IDENTITY_NAMES } from '../../device/identification.js';
import { MAX_SPEED } from '../../device/signals/clock.js';
import { signalSchema } from '../../device/signals/kinds.js';
import { MIN_PERIOD } from '../../device/signals/signal.js';
import { ABOUT_LIKE, likeSchema } from '../catalogue-files.js';
import { bitEntrySchema, registerEntrySchema, seedSchema } from './entry-schema.js';
import { mannersSchema } from './manners-schema.js';
import { besideReal, realSchema } from './real.js';
import { sunspecForm } from './sunspec.js';

/** The schemas of a device, except those of the entries of its tables. */

const POSITIVE = '[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]';

/** Mappings whose keys are numbers: what the keys are, the first and the last one, and their pattern. */
export const OBJECTS = {
  what: 'objects by identifier',
  ...{ first: FIRST_EXTENDED_OBJECT, last: 0xff, pattern: /^(12[89]|1[3-9]\d|2[0-4]\d|25[0-5])$/ },
};
export const FILES = {
  what: 'files by number',
  ...{ first: 1, last: 0xffff, pattern: new RegExp(`^(${POSITIVE})$`) },
};
export const QUEUES = {
  what: 'FIFO queues by address',
  ...{ first: 0, last: 0xffff, pattern: new RegExp(`^(0|${POSITIVE})$`) },
};

/** A binary object of the identification. */
export const binaryObject = section(
  { bytes: hexadecimal(244, 'an object', '01 02 ff') },
  { bytes: 'The object as hexadecimal text.' },
);

export const identitySchema = section(
  {
    ...each(IDENTITY_NAMES, identityText.optional()),
    extended: readApart(() => mappingOf(OBJECTS.pattern, z.union([identityText, binaryObject]))),
  },
  {
    ...each(IDENTITY_NAMES, 'The object as text.'),
    extended: 'Private objects by identifier, 128 to 255: a text, or `{bytes: "01 02 ff"}`.',
  },
);

const clockSchema = section(
  {
    speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
    paused: flag.optional(),
  },
  {
    speed: 'How fast the clock runs: at 60, a second counts as a minute. Default: 1.',
    paused: 'Whether the clock is paused.',
  },
);

const word = wholeNumber(0, 0xffff);

const exceptionStatusSchema = z
  .array(wholeNumber(0, 0xffff), { error: 'a list of coil addresses' })
  .max(8, { error: 'at most 8 coil addresses' });

const idError = { error: 'a byte, 0 to 255, or a list of 1 to 64 bytes' };

const serverIdSchema = section(
  {
    id: z
      .union(
        [wholeNumber(0, 255), z.array(wholeNumber(0, 255), idError).min(1, idError).max(64, idError)],
        idError,
      )
      .transform((id) => [id].flat()),
    running: flag.default(true),
    additional: identityText.max(180, { error: 'text of at most 180 bytes' }).default(''),
  },
  { id: 'One byte, or up to 64 bytes.', running: 'The run indicator.', additional: 'Additional text.' },
);

export const fileSchema = section(
  {
    records: wholeNumber(1, MAX_RECORDS).default(MAX_RECORDS),
    write: flag.default(false),
    values: z.array(word, { error: 'a list of words' }).default([]),
  },
  {
    records: 'The number of records (words).',
    write: 'Whether function 21 may write the file.',
    values: 'The first records; the others are 0.',
  },
);

/** A FIFO queue that a signal feeds. */
export const fedQueueSchema = section(
  {
    signal: readApart(() => signalSchema),
    every: duration(MIN_PERIOD),
    seed: seedSchema.optional(),
  },
  {
    signal: 'The signal that produces the words.',
    every: 'The interval at which words are added, in ms.',
    seed: 'Seed for the random values of the signal.',
  },
  { required: ['signal', 'every'] },
);

export const queueSchema = z
  .array(word, { error: 'a list of words' })
  .max(0xffff, { error: 'at most 65535 words' });

/** The keys that a device may have besides registers. */
const extras = {
  identity: identitySchema.optional(),
  exceptionStatus: exceptionStatusSchema.optional(),
  serverId: serverIdSchema.optional(),
  files: readApart(() => mappingOf(FILES.pattern, fileSchema)),
  queues: readApart(() => mappingOf(QUEUES.pattern, z.union([queueSchema, fedQueueSchema]))),
  manners: mannersSchema.optional(),
  like: likeSchema,
};

const aboutExtras = {
  identity: 'What functions 43/14 and 17 report about the device.',
  exceptionStatus: 'Up to eight coils for function 7; the first is the lowest bit.',
  serverId: 'The reply to function 17.',
  files: 'Files by number, for functions 20 and 21.',
  queues: 'FIFO queues by address, for function 24: a list of words, or a signal that feeds it.',
  manners: 'How the device deviates from a conforming one.',
  like: ABOUT_LIKE,
};

/** A reference to a device of a pymodbus file. */
export const pymodbusReferenceSchema = section(
  {
    ...extras,
    pymodbus: text('the path of a pymodbus file'),
    device: text('the name of a device in that file').optional(),
  },
  {
    ...aboutExtras,
    pymodbus: 'A pymodbus.simulator file with its registers.',
    device: 'The device in that file, if it has several.',
  },
);

export const tableSections = section(
  {
    ...each(
      ['coils', 'discrete'],
      readApart(() => z.array(bitEntrySchema.meta({ id: 'Bits' }))),
    ),
    ...each(
      ['holding', 'input'],
      readApart(() => z.array(registerEntrySchema.meta({ id: 'Registers' }))),
    ),
  },
  {
    coils: 'Bits that clients read (function 1) and write (5, 15).',
    discrete: 'Discrete inputs: bits that clients read (function 2).',
    holding: 'Words that clients read (function 3) and write (6, 16, 22, 23).',
    input: 'Words that clients read (function 4).',
  },
);

/** A device with registers of its own. */
export const deviceSections = section(
  {
    ...extras,
    registers: readApart(() => tableSections),
    clock: clockSchema.optional(),
    seed: seedSchema.optional(),
    real: realSchema.optional(),
    ...besideReal,
    sunspec: readApart(() => sunspecForm),
  },
  {
    ...aboutExtras,
    registers: 'The values of the device, in four tables.',
    clock: 'The device clock, which drives the signals.',
    seed: 'The same seed gives the same random values. Default: 0.',
    real: 'A real device that answers instead of a simulated one (docs/real-devices.md).',
    writes: '`true` lets clients write to the real device.',
    whenSilent: 'The answer while the real device does not reply: silence, or exception 0B.',
    fallback: 'The simulated device that answers while the real one does not reply.',
    pause: 'Silence before each request to the real device, in ms.',
    shadow:
      '`true` stores the values from real replies in the registers of the fallback or, without one, of the device itself.',
    sunspec: 'Registers from SunSpec models (docs/sunspec.md): a list of models, or {models, base}.',
  },
  oneOfKeys('registers', 'real', 'sunspec'),
);

/** The documented form of the devices of a file. */
export const devicesForm = () =>
  having(
    z.record(
      z.string(),
      z
        .union([
          having(deviceSections, { title: 'Device' }),
          having(pymodbusReferenceSchema, { title: 'Device from a pymodbus file' }),
        ])
        .meta({ id: 'Device' }),
    ),
    {
      minProperties: 1,
    },
  );
