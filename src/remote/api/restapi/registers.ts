import { z } from 'zod';
import { oneOf, sectionOf } from '../../../common/schema/parts.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import type { CellBlock, CellRange } from '../../../simulator/commands/cells.js';
import type { Rpc } from '../../rpc/rpc.js';
import { type Failure, failure, refused } from '../failure.js';
import { integer, optionalInteger, requests, textFlag } from './fields.js';
import { registerRowSchema, registerRows } from './register-rows.js';
import { REGISTER_ACTIONS, REGISTER_TYPES } from './register-text.js';

/**
 * The fields that select registers of a device. The specification says `range_end`; every existing client
 * sends `range_stop`.
 */
const selection = {
  range_start: optionalInteger,
  range_end: optionalInteger,
  range_stop: optionalInteger,
  device: z.string({ error: 'the name of a device' }).optional(),
  table: oneOf(TABLE_NAMES).optional(),
};

const reading = z.object(selection);
const setting = z.object({
  register: integer,
  value: z.union([z.number(), z.string(), z.boolean()], { error: 'a number or text' }).nullish(),
  writeable: textFlag.optional(),
  ...selection,
});

/**
 * The requests of this endpoint. Unknown keys are ignored, because existing clients also send fields of the
 * web page.
 */
export const REGISTERS_REQUESTS = requests(
  { Register: reading, Registers: reading, Set: setting },
  { submit: 'Registers', device: 'meter', range_start: 0, range_stop: 1 },
);

type Reading = z.output<typeof reading>;

export const registersAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    register_types: z.record(z.string(), z.number()),
    register_actions: z.record(z.string(), z.number()),
    register_rows: z.array(registerRowSchema),
  })
  .meta({ id: 'Registers', description: 'Registers, one row for each.' });

/** The beginning of an answer, up to its rows, which are JSON already. */
const HEAD = JSON.stringify({
  result: 'ok',
  footer: 'Operation completed successfully',
  register_types: REGISTER_TYPES,
  register_actions: REGISTER_ACTIONS,
}).slice(0, -1);

/**
 * Answers POST /restapi/registers: reads registers without effects on them, and sets them whatever their
 * access flag.
 * @returns the answer as JSON, in pieces
 */
export async function handleRegisters(rpc: Rpc, body: object): Promise<Iterable<string> | Failure> {
  const request = REGISTERS_REQUESTS.read(body);
  if ('result' in request) return hasRangeOfText(body) ? INVALID_RANGE : request;
  const { fields } = request;
  const set = request.submit === 'Set' ? request.fields : undefined;
  const range = rangeOf(fields, set?.register ?? 0);
  if (typeof range === 'string') return failure(range);
  const { device, table } = fields;
  const where = { device, table, ...range };
  const outcome = set
    ? await rpc.call('cells.set', { ...where, ...changeOf(set) })
    : await rpc.call('cells.read', where);
  if (outcome.ok) return jsonOf(outcome.value);
  const toName = fields.range_end != null ? 'range_end' : 'range_stop';
  return refused(
    outcome,
    new Map([
      ['from', 'range_start'],
      ['to', toName],
    ]),
  );
}

function* jsonOf(block: CellBlock): Generator<string> {
  yield `${HEAD},"register_rows":[`;
  yield* registerRows(block);
  yield ']}';
}

/** The change of a register. A form sends an empty value even if only the flag is to be set. */
function changeOf({ register, value, writeable = false }: z.output<typeof setting>) {
  const isAbsent = value == null || (writeable && value === '');
  return { register, value: isAbsent ? undefined : value, writable: writeable };
}

/** The only mistake for which pymodbus.simulator has a message of its own. */
const INVALID_RANGE = failure('Invalid range parameters');

/** Whether the range has text that is no whole number, in a key that pymodbus.simulator knows. */
function hasRangeOfText(body: unknown): boolean {
  return ['range_start', 'range_stop'].some((key) => {
    const found = sectionOf(body, key);
    return typeof found === 'string' && !/^\s*(?:[+-]?\d+\s*)?$/.test(found);
  });
}

/**
 * The first and last register, or an error message.
 * @param alone the register that is meant if there is no range
 */
function rangeOf(
  { range_start, range_end, range_stop }: Reading,
  alone: number,
): Pick<CellRange, 'from' | 'to'> | string {
  if (range_end != null && range_stop != null && range_end !== range_stop) {
    return `range_end ${range_end} and range_stop ${range_stop} differ: expected one of them, or both alike`;
  }
  const last = range_end ?? range_stop ?? undefined;
  const from = range_start ?? (last === undefined ? alone : 0);
  return { from, to: last ?? from };
}
