import { MAX_SEED } from '../common/random.js';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import { orderSchema } from './examination-order-schema.js';
import { scheduleSchema } from './report/json.js';

const MOST_TRIED = 1_000_000;

const { unit, limit, about, witness } = orderSchema.shape;

/** The body of a request for a shake. */
export const shakeOrderSchema = section({
  line: text('the name of a line').describe('The line whose client is shaken.'),
  unit,
  limit: limit.describe('Longest duration, with looking for the shortest schedule (default: 30m).'),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Seed of the moves: the same seed tries the same moves (default: random).'),
  moves: wholeNumber(1, MOST_TRIED, 'a number of moves')
    .optional()
    .describe('How many moves are tried at most (default: as many as there is time for).'),
  replay: scheduleSchema
    .optional()
    .describe('Moves that are played in place of drawn ones: the `schedule` of a report.'),
  about,
  witness,
});
