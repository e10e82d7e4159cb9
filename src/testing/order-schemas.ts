import { z } from 'zod';
import { MAX_SEED } from '../common/random.js';
import { DAY_MS } from '../common/schema/milliseconds.js';
import { bounded, flag, section, text, wholeNumber } from '../common/schema/parts.js';
import { duration } from '../common/schema/units.js';
import { realTargetSchema } from '../document/native/real.js';
import { aboutSchema, scheduleSchema } from './report/shapes.js';

/** The longest reply time that can be claimed, in ms. */
export const LONGEST_MS = 60_000;
const MOST_CODES = 127;

const codes = (most: number, what: string) => bounded(z.array(wholeNumber(1, most, what)), MOST_CODES);

/** The manufacturer's claims about a server. Anything absent is not claimed, and not judged. */
export const claimsSchema = section({
  functions: codes(127, 'a function code').describe('Functions that the server supports.').optional(),
  exceptions: codes(255, 'an exception code')
    .describe('The exception codes that the server uses.')
    .optional(),
  registers: wholeNumber(1, 125, 'a quantity of registers')
    .describe('Maximum number of registers per read.')
    .optional(),
  bits: wholeNumber(1, 2000, 'a quantity of bits').describe('Maximum number of bits per read.').optional(),
  connections: wholeNumber(1, 65535, 'a number of connections')
    .describe('Number of connections served at the same time.')
    .optional(),
  broadcast: flag.describe('Whether broadcast writes are executed.').optional(),
  replyTime: duration(1, LONGEST_MS).describe('The time within which 99 % of the replies begin.').optional(),
});

export type Claims = z.output<typeof claimsSchema>;

const MOST_NAMED = 100;
const LAST_UNIT = 255;

export const clientOrderSchema = section({
  line: text('the name of a line').describe('The line whose client is tested.'),
  unit: wholeNumber(0, LAST_UNIT, 'a unit identifier')
    .optional()
    .describe('Disturb only requests to this unit (default: every unit).'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED)
    .optional()
    .describe(
      'Checks and groups of checks (default: all that can run on the line). `GET /api/v1/checks` lists them. `real-world` plays all entries of `GET /api/v1/catalogue`, `real-world.ID` one of them.',
    ),
  limit: duration(1, DAY_MS)
    .optional()
    .describe(
      'Longest duration of the client test (default: 10m). Checks that do not fit into it are `not run`.',
    ),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Seed for the order of the checks and their random parts (default: random).'),
  about: aboutSchema.optional().describe('The tested product, the tester, and a remark, for the reports.'),
  observer: section({ register: text('a value, such as meter.setpoint') })
    .optional()
    .describe(
      'The register to which the client writes the value it has read, such as `meter.setpoint` or `meter.holding.100`. It shows which replies the client accepted.',
    ),
});

const LONGEST_PAUSE_MS = 60_000;
const MOST_NAMED_OF_SERVERS = 200;

const span = section({
  first: wholeNumber(0, 0xffff, 'an address'),
  last: wholeNumber(0, 0xffff, 'an address'),
});

export const serverOrderSchema = section({
  device: text('the name of a device')
    .optional()
    .describe('The simulated device whose `real` server is tested. Either this or `real`.'),
  real: realTargetSchema
    .optional()
    .describe(
      'The server, written like `real` of a device: a port that `GET /api/v1/ports` lists, or a host that `api.mayReach` lists.',
    ),
  unit: wholeNumber(0, 255, 'a unit identifier')
    .optional()
    .describe('The unit identifier of the server (default: that of the real device, or 1).'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED_OF_SERVERS)
    .optional()
    .describe('Checks and groups of checks (default: all that suit the server).'),
  pause: duration(0, LONGEST_PAUSE_MS).optional().describe('Silence before each request (default: 20ms).'),
  idle: duration(0, LONGEST_PAUSE_MS)
    .optional()
    .describe('Idle time before the check `idle-request` reads (default: 3s).'),
  timeout: duration(1, LONGEST_PAUSE_MS)
    .optional()
    .describe('Longest wait for a reply (default: derived from the replies, at most 5s).'),
  limit: duration(1, DAY_MS)
    .optional()
    .describe(
      'Longest duration of the server test, without `soak` (default: 4m). Checks that do not fit into it are `not-run`.',
    ),
  soak: duration(0, DAY_MS)
    .optional()
    .describe('How long to keep reading the server at the end (default: not at all).'),
  scratch: section({ holding: span.optional(), coils: span.optional() })
    .optional()
    .describe(
      'Addresses that may be written. Their values are restored. Without this key, nothing is written.',
    ),
  broadcast: flag
    .optional()
    .describe('Whether broadcasts, which reach all servers on the bus, may be sent (default: false).'),
  map: text('the name of a device')
    .optional()
    .describe(
      'A device of this simulator that has the register map of the server; the first 5,000 values of each table are compared.',
    ),
  claims: claimsSchema
    .optional()
    .describe("The manufacturer's claims. A claim that the server does not meet is a violation."),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Seed for the order of the checks and their random parts (default: random).'),
});

const MOST_TRIED = 1_000_000;
const MOST_NAMED_OF_FUZZ = 200;

const { unit, limit, about, observer } = clientOrderSchema.shape;

export const fuzzOrderSchema = section({
  line: text('the name of a line').describe('The line whose client is fuzzed.'),
  unit,
  limit: limit.describe('Longest duration, including the search for the shortest schedule (default: 30m).'),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('Random seed: the same seed gives the same moves (default: random).'),
  moves: wholeNumber(1, MOST_TRIED, 'a number of moves')
    .optional()
    .describe('Maximum number of moves (default: limited only by the time).'),
  except: bounded(z.array(text('a kind of move')), MOST_NAMED_OF_FUZZ)
    .optional()
    .describe(
      'Kinds of moves to leave out, because the client is known to fail on them: kinds of faults, keys of `manners`, `power`, `closed`, `unsolicited`, `catalogue` (default: none).',
    ),
  replay: scheduleSchema
    .optional()
    .describe('Moves to play instead of random ones: the `schedule` of a report.'),
  about,
  observer,
});
