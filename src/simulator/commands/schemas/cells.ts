import { z } from 'zod';
import { flag, oneOf, section, text, wholeNumber } from '../../../common/schema/parts.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import type { DeclaredCommands } from '../declared.js';

const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');
const range = {
  device: text('the name of a device').optional(),
  table: oneOf(TABLE_NAMES).optional(),
  from: address,
  to: address,
};

/** The commands on registers side by side, for `/restapi`. `../cells.ts` carries them out. */
export const CELL_COMMANDS = {
  'cells.read': { kind: 'query', sent: section(range), summary: 'Read registers side by side' },
  'cells.set': {
    summary: 'Set a register, or make it writable, or both',
    sent: section({
      ...range,
      register: address,
      value: z.union([z.number(), z.string(), z.boolean()]).optional(),
      writable: flag,
    }),
  },
} as const satisfies DeclaredCommands;
