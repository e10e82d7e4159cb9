import { z } from 'zod';
import { oneOf, sectionOf } from '../../common/schema/parts.js';
import { type Action, PYMODBUS_ACTIONS } from '../../device/registers/actions.js';
import { CELL_TYPES, type CellType } from '../../device/registers/cell-type.js';
import { isWritableMeta, orderOfMeta, typeOfMeta } from '../../device/registers/layout.js';
import { type Value, valueOfWords } from '../../device/registers/value.js';
import { TABLE_NAMES } from '../../device/tables.js';
import { type Failure, failure, refused } from '../../remote/api/error-answer.js';
import type { Rpc } from '../../remote/rpc/rpc.js';
import type { CellBlock, CellRange } from '../../simulator/commands/cells.js';
import { integer, optionalInteger, requests, textFlag } from './fields.js';

/** The type numbers used by REST clients. */
const REGISTER_TYPES = {
  invalid: 0,
  bits: 1,
  uint16: 2,
  uint32: 3,
  float32: 4,
  string: 5,
  next: 6,
} as const;

/** The action numbers: 0 is none; the others follow in order. */
const REGISTER_ACTIONS: Readonly<Record<string, number>> = Object.fromEntries(
  ['null', ...PYMODBUS_ACTIONS].map((name, i) => [name, i]),
);

/**
 * The REST type for each cell type. Only the seven types of the original appear, because clients expect this
 * of register_types.
 */
const NEAREST: Readonly<Record<CellType, keyof typeof REGISTER_TYPES>> = {
  invalid: 'invalid',
  bit: 'bits',
  bits: 'bits',
  uint16: 'uint16',
  int16: 'uint16',
  uint32: 'uint32',
  int32: 'uint32',
  uint64: 'uint32',
  int64: 'uint32',
  float32: 'float32',
  float64: 'float32',
  string: 'string',
  next: 'next',
};

function typeText(type: CellType): string {
  return NEAREST[type];
}

/** Formats a flag as Python prints it; existing clients compare the text. */
function accessText(writable: boolean): string {
  return writable ? 'True' : 'False';
}

/** Formats an action as text: `none`, `uptime`, `random({'minval': 5, 'maxval': 9})`. */
function actionText(action: Action | undefined): string {
  if (!action) return 'none';
  const parameters = Object.entries(action).filter(([, value]) => typeof value === 'number');
  if (parameters.length === 0) return action.name;
  return `${action.name}({${parameters.map(([key, value]) => `'${key}': ${value}`).join(', ')}})`;
}

function valueText(type: CellType, value: Value): string {
  if (type === 'bits' || type === 'bit') return `0x${value.toString(16)}`;
  if (type === 'float32' || type === 'float64') return floatText(Number(value));
  return String(value);
}

/**
 * The shortest text that reads back as the same double, always with a point or an exponent, as Python writes
 * it.
 */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') ? text : `${text}.0`;
}

/** A register in the form that REST clients expect: every field is text. */
const registerRowSchema = z.object({
  index: z.string(),
  type: z.string(),
  access: z.string(),
  action: z.string(),
  value: z.string(),
  count_read: z.string(),
  count_write: z.string(),
});

/** Number of rows in a piece. */
const ROWS = 256;

/**
 * The registers of a block as JSON, one row each, separated by commas, in pieces. Rows are concatenated from
 * text: JSON.stringify on objects took five times as long.
 */
function* registerRows(block: CellBlock): Generator<string> {
  const actions = new Map(block.actions);
  let rows = '';
  for (let i = 0; i < block.count; i++) {
    rows += (i === 0 ? '' : ',') + rowOf(block, i, actions);
    if (i % ROWS !== ROWS - 1) continue;
    yield rows;
    rows = '';
  }
  yield rows;
}

function rowOf(block: CellBlock, i: number, actions: ReadonlyMap<number, Action>): string {
  const { first, words, meta } = block;
  const type = typeOfMeta(meta[i] as number);
  const word = String(words[i]);
  let [last, value] = ['', type === 'next' ? word : '0'];
  if (type !== 'next' && type !== 'invalid') {
    let end = i + 1;
    while (end < meta.length && typeOfMeta(meta[end] as number) === 'next') end++;
    if (end > i + 1) last = `-${first + end - 1}`;
    const text = valueText(type, valueOfWords(type, words, orderOfMeta(meta[i] as number), i, end - i));
    value = type === 'string' ? jsonOfContent(text) : text;
  }
  const isWritable = isWritableMeta(meta[i] as number);
  const action = actions.get(first + i);
  const middle = action ? middleOf(type, isWritable, actionText(action)) : MIDDLES[type][isWritable ? 1 : 0];
  const { reads, writes } = block;
  return `{"index":"${first + i}${last}${middle}${value}","count_read":"${reads[i]}","count_write":"${writes[i]}"}`;
}

/** The part of a row between its index and its value. */
function middleOf(type: CellType, isWritable: boolean, action: string): string {
  const access = accessText(isWritable);
  return `","type":"${typeText(type)}","access":"${access}","action":"${jsonOfContent(action)}","value":"`;
}

/** These parts for rows without an action, by type: read-only and writable. */
const MIDDLES = Object.fromEntries(
  CELL_TYPES.map((type) => [
    type,
    [false, true].map((writable) => middleOf(type, writable, actionText(undefined))),
  ]),
) as unknown as Readonly<Record<CellType, readonly [string, string]>>;

/** Escapes text for use between the quotes of a JSON string. */
function jsonOfContent(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

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
 * The requests that this endpoint accepts. Unknown keys are ignored, because existing clients also send
 * fields of the web page.
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
  .meta({ id: 'Registers', description: 'Registers, one per row.' });

/** The beginning of an answer, up to its rows, which are JSON already. */
const HEAD = JSON.stringify({
  result: 'ok',
  footer: 'Operation completed successfully',
  register_types: REGISTER_TYPES,
  register_actions: REGISTER_ACTIONS,
}).slice(0, -1);

/**
 * Answers POST /restapi/registers: reads registers without side effects, and sets them regardless of their
 * access flag.
 * @returns the answer as JSON, in pieces
 */
export async function handleRegisters(rpc: Rpc, body: object): Promise<Iterable<string> | Failure> {
  const request = REGISTERS_REQUESTS.read(body);
  if ('result' in request) return hasRangeOfText(body) ? INVALID_RANGE : request;
  const { fields } = request;
  const set = request.submit === 'Set' ? request.fields : undefined;
  const range = rangeOf(fields, set?.register ?? 0);
  if ('result' in range) return range;
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

/** The change of a register. A form sends an empty value even if only the flag should be set. */
function changeOf({ register, value, writeable = false }: z.output<typeof setting>) {
  const isAbsent = value == null || (writeable && value === '');
  return { register, value: isAbsent ? undefined : value, writable: writeable };
}

/** The only mistake for which pymodbus.simulator has its own message. */
const INVALID_RANGE = failure('Invalid range parameters');

/** Whether the range contains text that is not a whole number, in a key that pymodbus.simulator knows. */
function hasRangeOfText(body: unknown): boolean {
  return ['range_start', 'range_stop'].some((key) => {
    const found = sectionOf(body, key);
    return typeof found === 'string' && !/^\s*(?:[+-]?\d+\s*)?$/.test(found);
  });
}

/**
 * The first and last register.
 * @param alone the register to use if there is no range
 */
function rangeOf(
  { range_start, range_end, range_stop }: Reading,
  alone: number,
): Pick<CellRange, 'from' | 'to'> | Failure {
  if (range_end != null && range_stop != null && range_end !== range_stop) {
    return failure(
      `range_end ${range_end} and range_stop ${range_stop} differ: expected only one of them, or the same value in both`,
    );
  }
  const last = range_end ?? range_stop ?? undefined;
  const from = range_start ?? (last === undefined ? alone : 0);
  return { from, to: last ?? from };
}
