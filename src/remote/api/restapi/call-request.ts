import { z } from 'zod';
import { expectedMessage } from '../../../common/schema/problem.js';
import { MAX_REPLY_BYTES, MAX_REPLY_MS } from '../../../device/faults/budget.js';
import { thousandths } from '../../../simulator/commands/thousandths.js';
import {
  anyValue,
  formFlag,
  inMs,
  integer,
  isInOrder,
  LONGEST_WAIT_S,
  listed,
  NOT_IN_ORDER,
  noFields,
  optionalInteger,
  orEmpty,
  requests,
  seconds,
} from './fields.js';
import { ERROR_CODES } from './function-codes.js';

/** What is sent in place of the true response. */
const RESPONSE_TYPES = ['normal', 'error', 'empty', 'junk'] as const;

type ResponseType = (typeof RESPONSE_TYPES)[number];

const DEFAULT_JUNK = 10;

const CODES = [...ERROR_CODES.keys()].join(', ');

/** An error of a check for which zod has no message. */
function expecting(expected: string) {
  return { error: ({ input }: { input?: unknown }) => expectedMessage(expected, input) };
}

const simulateFields = z.object({
  response_type: optionalInteger.refine(
    (type) => type == null || type < RESPONSE_TYPES.length,
    expecting('0 (normal), 1 (error), 2 (empty) or 3 (junk)'),
  ),
  response_split: anyValue,
  split_delay: orEmpty(seconds.optional(), 0),
  response_cr: anyValue,
  response_cr_pct: orEmpty(
    integer.refine((percent) => percent <= 100, expecting('percent, 0 to 100')).optional(),
    0,
  ),
  response_delay: orEmpty(seconds, 0),
  response_error: integer.refine(
    (code) => code === 0 || ERROR_CODES.has(code),
    expecting(`0 or one of ${CODES}`),
  ),
  response_junk_datalen: optionalInteger.refine(
    (length) => (length ?? 0) <= MAX_REPLY_BYTES,
    expecting(`a number of bytes, 0 to ${MAX_REPLY_BYTES}`),
  ),
  response_clear_after: orEmpty(integer, 0),
});

/** The settings of simulated responses; defaults are filled in. */
export interface Simulation {
  readonly type: ResponseType;
  readonly errorCode: number;
  readonly junkLength: number;
  /** Delay of the response, in s. */
  readonly delay: number;
  /** Pause between the two parts of a response, in s; 0 for no split. */
  readonly splitDelay: number;
  /** Percentage of responses that are changed; 0 for none. */
  readonly changeRate: number;
  readonly clearAfter: number;
}

/** The request Simulate. */
const simulateRequest = simulateFields.transform((fields, context): Simulation => {
  const fail = (key: string, message: string) =>
    context.issues.push({ code: 'custom', input: fields, path: [key], message });
  const split = fields.response_split !== undefined;
  const changes = fields.response_cr !== undefined;
  const splitDelay = split ? fields.split_delay || 1 : 0;
  if (split && fields.split_delay === undefined) fail('split_delay', 'missing, expected seconds');
  if (changes && fields.response_cr_pct === undefined) fail('response_cr_pct', 'missing, expected percent');
  if (thousandths(inMs(fields.response_delay) + inMs(splitDelay)) > MAX_REPLY_MS) {
    fail('split_delay', `expected at most ${LONGEST_WAIT_S} seconds together with response_delay`);
  }
  const type = RESPONSE_TYPES[fields.response_type ?? (fields.response_error === 0 ? 0 : 1)] ?? 'normal';
  return {
    type,
    errorCode: fields.response_error,
    junkLength: fields.response_junk_datalen ?? DEFAULT_JUNK,
    delay: fields.response_delay,
    splitDelay,
    changeRate: changes ? (fields.response_cr_pct ?? 0) : 0,
    clearAfter: fields.response_clear_after || 1,
  };
});

/** The fields that select calls. */
const monitorRequest = z
  .object({ ...listed, show_hex: formFlag, show_decode: formFlag })
  .refine(isInOrder, NOT_IN_ORDER);

export type MonitorRequest = z.infer<typeof monitorRequest>;

export const CALLS_REQUESTS = requests(
  {
    Simulate: simulateRequest,
    Reset: noFields,
    Add: monitorRequest,
    Monitor: monitorRequest,
    Stop: noFields,
  },
  { submit: 'Simulate', response_error: 2, response_delay: 0.5, response_clear_after: 3 },
);

/** The settings after Reset. */
export const NO_SIMULATION: Simulation = {
  type: 'normal',
  errorCode: 0,
  junkLength: DEFAULT_JUNK,
  delay: 0,
  splitDelay: 0,
  changeRate: 0,
  clearAfter: 1,
};
