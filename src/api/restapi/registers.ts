import { z } from 'zod';
import type { CellBlock, CellRange } from '../../control/cells.js';
import type { Outcome as Came } from '../../control/refusal.js';
import type { Door } from '../../door/door.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { sectionOf } from '../../schema/parts.js';
import { type Failure, failure, mistakes, refused } from '../failure.js';
import { type RegisterRequest, registerRequest, registerSubmit } from './register-request.js';
import { registerRowSchema, registerRows } from './register-rows.js';
import { REGISTER_ACTIONS, REGISTER_TYPES } from './register-text.js';

export const registersAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    register_types: z.record(z.string(), z.number()),
    register_actions: z.record(z.string(), z.number()),
    register_rows: z.array(registerRowSchema),
  })
  .meta({ id: 'Registers', description: 'Registers, one row for each.' });

/** An answer up to its rows, which are JSON already. */
const HEAD = JSON.stringify({
  result: 'ok',
  footer: 'Operation completed successfully',
  register_types: REGISTER_TYPES,
  register_actions: REGISTER_ACTIONS,
}).slice(0, -1);

/**
 * POST /restapi/registers: reads registers without touching them, and sets them whatever their access flag.
 * @returns the answer as JSON, in pieces
 */
export async function handleRegisters(door: Door, body: unknown): Promise<Iterable<string> | Failure> {
  const parsed = registerRequest.safeParse(body);
  if (!parsed.success) return wrongRequest(body);
  const request = parsed.data;
  const range = rangeOf(request);
  if (typeof range === 'string') return failure(range);
  const came = await cellsOf(door, request, range);
  const toName = request.range_end != null ? 'range_end' : 'range_stop';
  if (!came.ok)
    return refused(
      came,
      new Map([
        ['from', 'range_start'],
        ['to', toName],
      ]),
    );
  return jsonOf(came.value);
}

function* jsonOf(block: CellBlock): Generator<string> {
  yield `${HEAD},"register_rows":[`;
  yield* registerRows(block);
  yield ']}';
}

function cellsOf(
  door: Door,
  request: RegisterRequest,
  range: Pick<CellRange, 'from' | 'to'>,
): Promise<Came<CellBlock>> {
  const { device, table } = request;
  const where = { device, table, ...range };
  if (request.submit !== 'Set') return door.call('cells.read', where);
  const { register, writeable = false } = request;
  // A form sends an empty value field even when only the flag is to be set.
  const value = request.value == null || (writeable && request.value === '') ? undefined : request.value;
  return door.call('cells.set', { ...where, register, value, writable: writeable });
}

/** What is wrong with a body that is no request. What is expected of it depends on `submit`, which is checked first. */
function wrongRequest(body: unknown): Failure {
  if (hasRangeOfText(body)) return INVALID_RANGE;
  const findings = new Findings();
  const at = new At(body, findings);
  if (at.check(registerSubmit)) at.check(registerRequest);
  return mistakes(findings);
}

/** The answer of pymodbus.simulator to the only mistake for which it has words of its own. */
const INVALID_RANGE = failure('Invalid range parameters');

/** Whether the range has text that is no whole number, where pymodbus.simulator knows the key. */
function hasRangeOfText(body: unknown): boolean {
  return ['range_start', 'range_stop'].some((key) => {
    const found = sectionOf(body, key);
    return typeof found === 'string' && !/^\s*(?:[+-]?\d+\s*)?$/.test(found);
  });
}

/** First and last register, or an error message. Without a range, a Set answers with the register it set. */
function rangeOf(request: RegisterRequest): Pick<CellRange, 'from' | 'to'> | string {
  const { range_start, range_end, range_stop } = request;
  if (range_end != null && range_stop != null && range_end !== range_stop) {
    return `range_end ${range_end} and range_stop ${range_stop} differ: expected one of them, or both alike`;
  }
  const last = range_end ?? range_stop ?? undefined;
  const noRange = range_start == null && last === undefined;
  const from = range_start ?? (noRange && request.submit === 'Set' ? request.register : 0);
  return { from, to: last ?? from };
}
