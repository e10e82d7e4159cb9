import { z } from 'zod';
import { bounded, flag, section, wholeNumber } from '../common/schema/parts.js';
import { duration } from '../common/schema/units.js';

/** The longest reply time that is claimed, in ms. */
export const LONGEST_MS = 60_000;
const MOST_CODES = 127;

const codes = (most: number, what: string) => bounded(z.array(wholeNumber(1, most, what)), MOST_CODES);

/** What the maker of a server claims. What is left out is not claimed, and not judged. */
export const claimsSchema = section({
  functions: codes(127, 'a function code').describe('Functions that the server has.').optional(),
  exceptions: codes(255, 'an exception code')
    .describe('The codes of all exceptions that the server answers with.')
    .optional(),
  registers: wholeNumber(1, 125, 'a quantity of registers')
    .describe('How many registers one request reads.')
    .optional(),
  bits: wholeNumber(1, 2000, 'a quantity of bits').describe('How many bits one request reads.').optional(),
  connections: wholeNumber(1, 65535, 'a number of connections')
    .describe('How many connections are served at a time.')
    .optional(),
  broadcast: flag.describe('Whether broadcast writes are executed.').optional(),
  replyTime: duration(1, LONGEST_MS).describe('The time within which 99 of 100 replies begin.').optional(),
});

export type Claims = z.output<typeof claimsSchema>;
