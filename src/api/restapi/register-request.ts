import { z } from 'zod';
import { TABLE_NAMES } from '../../device/tables.js';
import { oneOf } from '../../schema/parts.js';
import { integer, optionalInteger, textFlag } from './fields.js';

/** Which registers of which device; the specification says `range_end`, every existing client sends `range_stop`. */
const selection = {
  range_start: optionalInteger,
  range_end: optionalInteger,
  range_stop: optionalInteger,
  device: z.string({ error: 'the name of a device' }).optional(),
  table: oneOf(TABLE_NAMES).optional(),
};

/** Checked first, because the other expected fields depend on it. */
export const registerSubmit = z.object({ submit: oneOf(['Register', 'Registers', 'Set']) });

/** Unknown keys are ignored: existing clients send fields of the web page along. */
export const registerRequest = z.discriminatedUnion('submit', [
  z.object({ submit: z.literal(['Register', 'Registers']), ...selection }),
  z.object({
    submit: z.literal('Set'),
    register: integer,
    value: z.union([z.number(), z.string(), z.boolean()], { error: 'a number or text' }).nullish(),
    writeable: textFlag.optional(),
    ...selection,
  }),
]);

/** The same with an example, for the document of the interface. */
export const registersRequest = registerRequest.meta({
  examples: [{ submit: 'Registers', device: 'meter', range_start: 0, range_stop: 1 }],
});

export type RegisterRequest = z.infer<typeof registerRequest>;
