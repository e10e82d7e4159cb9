import { z } from 'zod';
import { MAX_SEED } from '../common/random.js';
import { bounded, flag, section, text, wholeNumber } from '../common/schema/parts.js';
import { duration } from '../common/schema/units.js';
import { realTargetSchema } from '../files/config/native/real.js';
import { claimsSchema } from './claims-schema.js';

const LONGEST_PAUSE_MS = 60_000;
const DAY_MS = 86_400_000;
const MOST_NAMED = 200;

const span = section({
  first: wholeNumber(0, 0xffff, 'an address'),
  last: wholeNumber(0, 0xffff, 'an address'),
});

/** The body of a request for an inspection. */
export const inspectionOrderSchema = section({
  device: text('the name of a device')
    .optional()
    .describe('The device whose real one is inspected. Either this, or `real`.'),
  real: realTargetSchema
    .optional()
    .describe(
      'The server, as `real` of a device names it: a port that `GET /api/v1/ports` lists, or a host that `api.mayReach` lists.',
    ),
  unit: wholeNumber(0, 255, 'a unit identifier')
    .optional()
    .describe('The unit identifier of the server (default: that of the real device, or 1).'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED)
    .optional()
    .describe('Checks and groups of checks (default: all that fit the server).'),
  pause: duration(0, LONGEST_PAUSE_MS).optional().describe('Silence before each request (default: 20ms).'),
  idle: duration(0, LONGEST_PAUSE_MS)
    .optional()
    .describe('How long the server is left alone before it is asked again (default: 3s).'),
  soak: duration(0, DAY_MS)
    .optional()
    .describe('How long the server is read at the end (default: not at all).'),
  scratch: section({ holding: span.optional(), coils: span.optional() })
    .optional()
    .describe('Addresses that may be written. Their values are put back. Without it nothing is written.'),
  broadcast: flag
    .optional()
    .describe('Whether requests may be sent to all servers of the bus (default: false).'),
  map: text('the name of a device')
    .optional()
    .describe(
      'A device of this simulator whose registers say what the server has; of each table, the first 5,000 values.',
    ),
  claims: claimsSchema
    .optional()
    .describe('What the maker of the server claims. A claim that does not hold is a violation.'),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Seed of the order of the checks and of their random parts (default: random).'),
});
