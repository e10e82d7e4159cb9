import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import { parseValue } from '../../registers/parse-value.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import { sectionOf } from '../../schema/parts.js';
import { expectedMessage } from '../../schema/problem.js';
import type { Simulator } from '../../simulator/simulator.js';
import { TOO_MUCH_TO_COME, writeValue } from '../../simulator/values.js';
import { WrittenList } from '../json-pieces.js';
import { REGISTERS } from './examples.js';
import { type Failure, failure, mistakes, type Outcome } from './outcome.js';
import { type RegisterRequest, registerRequest, registerSubmit } from './register-request.js';
import { type RegisterList, registerRowSchema, registerRows } from './register-rows.js';
import { REGISTER_ACTIONS, REGISTER_TYPES } from './register-text.js';

const MAX_ROWS = 8192;

export const registersAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    register_types: z.record(z.string(), z.number()),
    register_actions: z.record(z.string(), z.number()),
    register_rows: z.array(registerRowSchema),
  })
  .meta({ id: 'Registers', description: 'Registers, one row for each.', examples: [REGISTERS] });

interface RegistersAnswer extends Omit<z.infer<typeof registersAnswerSchema>, 'register_rows'> {
  readonly register_rows: WrittenList;
}

/** POST /restapi/registers: reads registers without touching them, and sets them whatever their access flag. */
export function handleRegisters(simulator: Simulator, body: unknown): Outcome<RegistersAnswer> {
  const parsed = registerRequest.safeParse(body);
  if (!parsed.success) return refusal(body);
  const request = parsed.data;
  const list = findList(simulator, request);
  if (typeof list === 'string') return failure(list);
  const range = findRange(request, list);
  if (typeof range === 'string') return failure(range);
  if (request.submit === 'Set') {
    const problem = setRegister(list, request);
    if (problem) return failure(problem);
  }
  return {
    result: 'ok',
    footer: 'Operation completed successfully',
    register_types: REGISTER_TYPES,
    register_actions: REGISTER_ACTIONS,
    register_rows: new WrittenList(registerRows(list, range.start, range.end)),
  };
}

/** What is wrong with a body that is no request. What is expected of it depends on `submit`, which is checked first. */
function refusal(body: unknown): Failure {
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

/** The list of registers that the request names, or an error message. */
function findList(simulator: Simulator, { device: name, table }: RegisterRequest): RegisterList | string {
  const device = name === undefined ? simulator.defaultDevice : simulator.devices.get(name);
  if (device) return listOf(device, table);
  const known = [...simulator.devices.keys()];
  return name === undefined
    ? `device: missing, expected one of ${known.join(', ')}`
    : `device: ${unknownName('device', name, known)}`;
}

function listOf({ name, cells, tables }: Device, table: RegisterRequest['table']): RegisterList | string {
  if (!cells) return { image: tables[table ?? 'holding'].window.image, size: ADDRESS_SPACE };
  if (table !== undefined) return `table: the registers of device ${name} are one list, without tables`;
  return { image: cells, size: cells.size };
}

/** First and last register, or an error message. Without a range, a Set answers with the register it set. */
function findRange(
  request: RegisterRequest,
  { size }: RegisterList,
): { start: number; end: number } | string {
  const { range_start, range_end, range_stop } = request;
  if (range_end != null && range_stop != null && range_end !== range_stop) {
    return `range_end ${range_end} and range_stop ${range_stop} differ: expected one of them, or both alike`;
  }
  const last = range_end ?? range_stop ?? undefined;
  const outside = (key: string, address: number) =>
    address < size ? undefined : `${key}: expected 0 to ${size - 1}, got ${address}`;
  const problem =
    (request.submit === 'Set' && outside('register', request.register)) ||
    outside('range_start', range_start ?? 0) ||
    outside(range_end != null ? 'range_end' : 'range_stop', last ?? 0);
  if (problem) return problem;
  const noRange = range_start == null && last === undefined;
  const start = range_start ?? (noRange && request.submit === 'Set' ? request.register : 0);
  const end = last ?? start;
  if (start > end) return `range_start: expected at most ${end}, the last register, got ${start}`;
  const count = end - start + 1;
  return count > MAX_ROWS
    ? `${range_end != null ? 'range_end' : 'range_stop'}: expected at most ${MAX_ROWS} registers in one request, got ${count}`
    : { start, end };
}

/** Sets the value or the access flag, or both. On a mistake it sets nothing and returns a message. */
function setRegister(
  { image }: RegisterList,
  { register, writeable, ...request }: Extract<RegisterRequest, { submit: 'Set' }>,
): string | undefined {
  // A form sends an empty value field even when only the flag is to be set.
  const value = writeable && request.value === '' ? undefined : request.value;
  const span = image.valueSpan(register);
  if (!span) return `register: ${register} is not defined`;
  if (span.address !== register) {
    return `register: ${register} is a part of the ${span.type} at ${span.address}, expected ${span.address}`;
  }
  if (value == null && !writeable) return 'value: missing, expected a value to set (or writeable: true)';
  if (value != null) {
    const parsed = parseValue(span.type, value, span.cells);
    if (!parsed.ok) return `value: ${expectedMessage(parsed.expected, value)}`;
    if (image.live?.isFull()) return `value: ${TOO_MUCH_TO_COME}`;
    writeValue({ image, place: span }, parsed.value);
  }
  if (writeable)
    for (let cell = register; cell < register + span.cells; cell++) image.setWritable(cell, true);
  return undefined;
}
