import { z } from 'zod';
import { anyValue, integer, optionalInteger, seconds } from './fields.js';
import { ERROR_CODES } from './function-codes.js';

/** What is sent instead of the true response. */
const RESPONSE_TYPES = ['normal', 'error', 'empty', 'junk'] as const;

type ResponseType = (typeof RESPONSE_TYPES)[number];

const MAX_JUNK = 65_536;
const DEFAULT_JUNK = 10;

const errorCode = integer.refine((code) => code === 0 || ERROR_CODES.has(code), {
  error: `expected 0 or one of ${[...ERROR_CODES.keys()].join(', ')}`,
});

const simulateFields = z.object({
  response_type: optionalInteger.refine((type) => type == null || type < RESPONSE_TYPES.length, {
    error: 'expected 0 (normal), 1 (error), 2 (empty) or 3 (junk)',
  }),
  response_split: anyValue,
  split_delay: seconds.optional(),
  response_cr: anyValue,
  response_cr_pct: integer
    .refine((percent) => percent <= 100, { error: 'expected percent, 0 to 100' })
    .optional(),
  response_delay: seconds,
  response_error: errorCode,
  response_junk_datalen: optionalInteger.refine((length) => (length ?? 0) <= MAX_JUNK, {
    error: `expected a number of bytes, 0 to ${MAX_JUNK}`,
  }),
  response_clear_after: integer,
});

/** How responses are to be simulated, with everything that is implied made explicit. */
export interface Simulation {
  readonly type: ResponseType;
  readonly errorCode: number;
  readonly junkLength: number;
  readonly delay: number;
  /** Seconds between the parts, 0 for no split. */
  readonly splitDelay: number;
  /** Percentage of responses to change, 0 for none. */
  readonly changeRate: number;
  readonly clearAfter: number;
}

/** The parameters of Simulate. */
export const simulateRequest = simulateFields.transform((fields, context): Simulation => {
  const missing = (key: string) =>
    context.issues.push({ code: 'custom', input: fields, path: [key], message: 'missing' });
  const split = fields.response_split !== undefined;
  const changes = fields.response_cr !== undefined;
  if (split && fields.split_delay === undefined) missing('split_delay');
  if (changes && fields.response_cr_pct === undefined) missing('response_cr_pct');
  const type = RESPONSE_TYPES[fields.response_type ?? (fields.response_error === 0 ? 0 : 1)] ?? 'normal';
  if (type === 'error' && fields.response_error === 0) {
    const message = `expected one of ${[...ERROR_CODES.keys()].join(', ')} for response_type 1`;
    context.issues.push({ code: 'custom', input: fields, path: ['response_error'], message });
  }
  return {
    type,
    errorCode: fields.response_error,
    junkLength: fields.response_junk_datalen ?? DEFAULT_JUNK,
    delay: fields.response_delay,
    splitDelay: split ? fields.split_delay || 1 : 0,
    changeRate: changes ? (fields.response_cr_pct ?? 0) : 0,
    clearAfter: fields.response_clear_after || 1,
  };
});

/** Which calls are listed; what is absent matches anything. */
export const monitorRequest = z
  .object({
    range_start: optionalInteger,
    range_stop: optionalInteger,
    function: optionalInteger,
    show_hex: anyValue,
    show_decode: anyValue,
  })
  .refine(({ range_start, range_stop }) => range_stop == null || (range_start ?? 0) <= range_stop, {
    error: 'expected range_start before range_stop',
    path: ['range_stop'],
  });

export type MonitorRequest = z.infer<typeof monitorRequest>;

/** Defaults of the simulation, as after Reset. */
export const NO_SIMULATION: Simulation = {
  type: 'normal',
  errorCode: 0,
  junkLength: DEFAULT_JUNK,
  delay: 0,
  splitDelay: 0,
  changeRate: 0,
  clearAfter: 1,
};
