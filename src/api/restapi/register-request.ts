import { z } from 'zod';
import { TABLE_NAMES } from '../../device/tables.js';
import { integer, optionalInteger } from './fields.js';

/** Which registers of which device; the specification says `range_end`, every existing client sends `range_stop`. */
const selection = {
  range_start: optionalInteger,
  range_end: optionalInteger,
  range_stop: optionalInteger,
  device: z.string({ error: 'expected the name of a device' }).optional(),
  table: z.enum(TABLE_NAMES, { error: `expected one of ${TABLE_NAMES.join(', ')}` }).optional(),
};

/** Unknown keys are ignored: existing clients send fields of the web page along. */
export const registerRequest = z.discriminatedUnion(
  'submit',
  [
    z.object({ submit: z.literal(['Register', 'Registers']), ...selection }),
    z.object({
      submit: z.literal('Set'),
      register: integer,
      value: z.union([z.number(), z.string(), z.boolean()], { error: 'expected a number or text' }).nullish(),
      writeable: z.boolean({ error: 'expected true or false' }).optional(),
      ...selection,
    }),
  ],
  { error: 'expected Register, Registers or Set' },
);

export type RegisterRequest = z.infer<typeof registerRequest>;
