import { z } from 'zod';
import { MAX_SEED } from '../../random.js';
import { duration } from '../../schema/duration.js';
import { bounded, section, text, wholeNumber } from '../../schema/parts.js';

const DAY_MS = 86_400_000;
const MOST_NAMED = 100;
const LAST_UNIT = 255;

/** What a request for an examination says. */
export const orderSchema = section({
  line: text('the name of a line').describe('The line whose client is examined.'),
  unit: wholeNumber(0, LAST_UNIT, 'a unit identifier')
    .optional()
    .describe('Only questions to this unit are disturbed.'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED)
    .optional()
    .describe(
      'Checks and groups of checks; all that fit the line when absent. `GET /api/v1/checks` lists them.',
    ),
  limit: duration(1, DAY_MS)
    .optional()
    .describe(
      'How long the examination may take. What is not reached by then is `not run`. 10 min when absent.',
    ),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('The order of the checks and their random parts come from it.'),
  witness: section({ register: text('a value, as in meter.setpoint') })
    .optional()
    .describe(
      'Shows which value the client has read: a register that the client writes what it has read to, `meter.setpoint` or `meter.holding.100`.',
    ),
});
