import { z } from 'zod';
import {
  flag,
  number,
  oneOf,
  readApart,
  section,
  text,
  WITHOUT_CONTROLS,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { REACTIONS } from '../../../device/reactions/kinds.js';
import { ACTION_NAMES } from '../../../device/registers/actions.js';
import { CELL_TYPES, PADDINGS, type ValueType } from '../../../device/registers/cell-type.js';
import { TIME_NAME } from '../../../device/signals/expression/parse.js';
import { seedSchema } from './device-schema.js';

export const ADDRESSES = 65536;

const NAME = 'a name of letters, digits and underscores, at most 64 of them, not beginning with a digit';

/**
 * The shapes of reactions. The type does not list these keys, because each kind of reaction reads its own.
 */
const reactionShape: object = readApart(...REACTIONS);

const entryShape = {
  address: wholeNumber(0, ADDRESSES - 1),
  ...readApart('value'),
  quantity: wholeNumber(1, ADDRESSES).optional(),
  write: flag.optional(),
  action: oneOf(ACTION_NAMES).optional(),
  min: number.optional(),
  max: number.optional(),
  ...readApart('reads'),
  name: z
    .string({ error: NAME })
    .refine(...WITHOUT_CONTROLS)
    .regex(/^[A-Za-z_]\w{0,63}$/, { error: NAME })
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

/** An entry of coils or discrete inputs. */
export const bitEntrySchema = section(entryShape);

export type RegisterType = Exclude<ValueType, 'bit'>;

const REGISTER_TYPES = CELL_TYPES.filter(
  (type): type is RegisterType => type !== 'invalid' && type !== 'next' && type !== 'bit',
);

/** An entry of holding or input registers. `quantity` counts values, `length` the registers of a string. */
export const registerEntrySchema = section({
  ...entryShape,
  type: oneOf(REGISTER_TYPES).optional(),
  length: wholeNumber(1, ADDRESSES).optional(),
  wordOrder: oneOf(['big', 'little']).optional(),
  byteOrder: oneOf(['big', 'little']).optional(),
  padding: oneOf(PADDINGS).optional(),
  unit: text('a unit, such as "V"').optional(),
  scale: number.refine((scale) => scale !== 0, { error: 'expected a number other than 0' }).optional(),
});

export type RegisterEntry = z.output<typeof registerEntrySchema>;
