import { z } from 'zod';
import { MAX_SEED } from '../common/random.js';
import { bounded, section, text, wholeNumber } from '../common/schema/parts.js';
import { duration } from '../common/schema/units.js';
import { aboutSchema } from './report/json.js';

const DAY_MS = 86_400_000;
const MOST_NAMED = 100;
const LAST_UNIT = 255;

/** The body of a request for an examination. */
export const orderSchema = section({
  line: text('the name of a line').describe('The line whose client is examined.'),
  unit: wholeNumber(0, LAST_UNIT, 'a unit identifier')
    .optional()
    .describe('Disturb only requests to this unit (default: every unit).'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED)
    .optional()
    .describe(
      'Checks and groups of checks (default: all that fit the line). `GET /api/v1/checks` lists them. `real-world` plays all entries of `GET /api/v1/catalogue`, `real-world.ID` one of them.',
    ),
  limit: duration(1, DAY_MS)
    .optional()
    .describe('Longest duration of the examination (default: 10m). Checks that do not fit are `not run`.'),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Seed of the order of the checks and of their random parts (default: random).'),
  about: aboutSchema.optional().describe('What was tested, by whom, and a remark, for the reports.'),
  witness: section({ register: text('a value, as in meter.setpoint') })
    .optional()
    .describe(
      'The register to which the client writes the value that it has read, such as `meter.setpoint` or `meter.holding.100`. It shows which replies the client has accepted.',
    ),
});
