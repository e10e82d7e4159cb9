import { z } from 'zod';
import {
  number,
  numberFrom,
  oneOf,
  section,
  text,
  UNLIMITED,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import type { DeclaredCommands } from '../declared.js';

/** The most numbers in one message. More would take longer than one turn of the main thread may. */
export const MOST_TAKEN = 64;

/** A number that has arrived for a value, before the scale of its signal. */
const taken = section({
  device: text('the name of a device'),
  table: oneOf(TABLE_NAMES),
  address: wholeNumber(0, ADDRESS_SPACE - 1, 'an address'),
  value: number,
  /** How long ago the number arrived, in ms. */
  age: numberFrom(0, UNLIMITED, 'a time in ms'),
});

export type Taken = z.infer<typeof taken>;

/** The commands on values that come from outside. `../inlets.ts` carries them out. */
export const INLET_COMMANDS = {
  'inlet.list': { kind: 'list', summary: 'List the values that come from outside' },
  'inlet.take': {
    summary: 'Pass numbers on to values that come from outside',
    sent: section({
      values: z.array(taken).max(MOST_TAKEN, { error: `at most ${MOST_TAKEN} values` }),
    }),
  },
} as const satisfies DeclaredCommands;
