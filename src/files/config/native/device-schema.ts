import { z } from 'zod';
import { MAX_SEED } from '../../../common/random.js';
import {
  each,
  flag,
  identityText,
  numberFrom,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { MAX_RECORDS } from '../../../device/files.js';
import { IDENTITY_NAMES } from '../../../device/identification.js';
import { MAX_SPEED } from '../../../device/signals/clock.js';
import { MIN_PERIOD } from '../../../device/signals/signal.js';

/** The schemas of a device, without those of the entries of its tables. */

export const identitySchema = section({
  ...each(IDENTITY_NAMES, identityText.optional()),
  ...readApart('extended'),
});

/** The keys that a device may have besides registers. */
const extras = {
  ...readApart('identity', 'exceptionStatus', 'serverId', 'files', 'queues'),
  ...readApart('manners', 'like'),
};

/** A device with registers of its own. */
export const deviceSections = section({
  ...extras,
  ...readApart('registers', 'clock', 'seed'),
  ...readApart('real', 'writes', 'whenSilent', 'fallback', 'pause', 'shadow'),
});

/** The settings of the clock of a device. */
export const clockSchema = section({
  speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
  paused: flag.optional(),
});

export const seedSchema = wholeNumber(0, MAX_SEED, 'a seed');

const word = wholeNumber(0, 0xffff);

export const exceptionStatusSchema = z
  .array(wholeNumber(0, 0xffff), { error: 'a list of coil addresses' })
  .max(8, { error: 'at most 8 coil addresses' });

const idError = { error: 'a byte, 0 to 255, or a list of 1 to 64 bytes' };

export const serverIdSchema = section({
  id: z.union(
    [wholeNumber(0, 255), z.array(wholeNumber(0, 255), idError).min(1, idError).max(64, idError)],
    idError,
  ),
  running: flag.default(true),
  additional: identityText.max(180, { error: 'text of at most 180 bytes' }).default(''),
});

export const fileSchema = section({
  records: wholeNumber(1, MAX_RECORDS).default(MAX_RECORDS),
  write: flag.default(false),
  values: z.array(word, { error: 'a list of words' }).default([]),
});

/** A FIFO queue that a signal feeds. */
export const fedQueueSchema = section({
  ...readApart('signal'),
  every: duration(MIN_PERIOD),
  seed: seedSchema.optional(),
});

export const queueSchema = z
  .array(word, { error: 'a list of words' })
  .max(0xffff, { error: 'at most 65535 words' });

/** A device that refers to a device of a pymodbus file. */
export const pymodbusReferenceSchema = section({
  ...extras,
  pymodbus: text('the path of a pymodbus file'),
  device: text('the name of a device in that file').optional(),
});

export const tableSections = section(readApart('coils', 'discrete', 'holding', 'input'));
